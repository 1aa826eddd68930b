/* A stand-in for libnvidia-ml.so.1 in tests: a node with three L40S.
 * RT_FAKE_NVML=no_driver   nvmlInit_v2 fails as without a loaded driver
 * RT_FAKE_NVML=lost        GPU 1 has fallen off the bus
 * RT_FAKE_NVML=none        no GPU
 * Built with FAKE_NVML_OLD it lacks nvmlErrorString and nvmlDeviceGetName, as an older driver lacks functions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, INSUFFICIENT_SIZE = 7, DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15 };

struct device {
  const char* uuid;
};
static struct device devices[3] = {{"GPU-11111111-aaaa-bbbb-cccc-000000000001"},
                                   {"GPU-11111111-aaaa-bbbb-cccc-000000000002"},
                                   {"GPU-11111111-aaaa-bbbb-cccc-000000000003"}};

static int mode_is(const char* mode) {
  const char* set = getenv("RT_FAKE_NVML");
  return set && strcmp(set, mode) == 0;
}

static int copy(const char* text, char* out, unsigned size) {
  if (strlen(text) >= size) return INSUFFICIENT_SIZE;
  strcpy(out, text);
  return SUCCESS;
}

int nvmlInit_v2(void) { return mode_is("no_driver") ? DRIVER_NOT_LOADED : SUCCESS; }
int nvmlShutdown(void) { return SUCCESS; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = mode_is("none") ? 0 : 3;
  return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device** device) {
  if (index >= 3) return INVALID_ARGUMENT;
  if (index == 1 && mode_is("lost")) return GPU_IS_LOST;
  *device = &devices[index];
  return SUCCESS;
}

int nvmlDeviceGetUUID(struct device* device, char* out, unsigned size) { return copy(device->uuid, out, size); }

#ifndef FAKE_NVML_OLD
const char* nvmlErrorString(int answer) {
  switch (answer) {
    case DRIVER_NOT_LOADED:
      return "Driver Not Loaded";
    case GPU_IS_LOST:
      return "GPU is lost";
    default:
      return "Unknown Error";
  }
}

int nvmlDeviceGetName(struct device* device, char* out, unsigned size) {
  (void)device;
  return copy("NVIDIA L40S", out, size);
}
#endif

int nvmlDeviceGetMemoryInfo(struct device* device, unsigned long long* total_free_used) {
  (void)device;
  total_free_used[0] = 46068ull << 20;
  total_free_used[1] = 45500ull << 20;
  total_free_used[2] = 568ull << 20;
  return SUCCESS;
}
