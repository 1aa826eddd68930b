#include "rt/runtime/device/gpus.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>

namespace rt {
namespace {

// The part of NVML's interface that is used here, as its documentation describes it. Device handles are opaque.
using Device = void*;
using Answer = int;
constexpr Answer kSuccess = 0;
constexpr std::size_t kTextSize = 96;  // NVML's longest UUID and name

struct MemoryInfo {  // bytes
  unsigned long long total, free, used;
};

// One NVML, loaded and initialised for as long as this lives. Each function may be missing in an older driver.
class Nvml {
 public:
  explicit Nvml(const std::filesystem::path& path) : library_(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) {
      const char* why = ::dlerror();
      reason_ = fmt::format("no NVIDIA driver: {}", why ? why : path.string());
      return;
    }
    const auto init = function<Answer()>("nvmlInit_v2");
    const Answer answer = init ? init() : -1;
    is_up_ = answer == kSuccess;
    if (!is_up_) reason_ = "NVML did not start: " + text_of(answer);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    const auto shutdown = is_up_ ? function<Answer()>("nvmlShutdown") : nullptr;
    if (shutdown) shutdown();
    if (library_) ::dlclose(library_);
  }

  bool is_up() const { return is_up_; }
  const std::string& reason() const { return reason_; }

  template <class Signature>
  Signature* function(const char* name) const {
    return library_ ? reinterpret_cast<Signature*>(::dlsym(library_, name)) : nullptr;
  }

  std::string text_of(Answer answer) const {
    const auto error_string = function<const char*(Answer)>("nvmlErrorString");
    if (answer < 0) return "the driver's library lacks the function";
    return error_string ? error_string(answer) : fmt::format("error {}", answer);
  }

  std::string text(const char* name, Device device) const {
    char buffer[kTextSize] = {};
    const auto get = function<Answer(Device, char*, unsigned)>(name);
    return get && get(device, buffer, sizeof buffer) == kSuccess ? buffer : "";
  }

  std::uint64_t memory(Device device) const {
    MemoryInfo info{};
    const auto get = function<Answer(Device, MemoryInfo*)>("nvmlDeviceGetMemoryInfo");
    return get && get(device, &info) == kSuccess ? info.total : 0;
  }

 private:
  void* library_;
  bool is_up_ = false;
  std::string reason_;
};

void add_reason(GpuList& list, const std::string& reason) { list.reason += (list.reason.empty() ? "" : "; ") + reason; }

}  // namespace

GpuList list_gpus(const std::filesystem::path& library) {
  const Nvml nvml(library);
  if (!nvml.is_up()) return {{}, nvml.reason()};

  GpuList list;
  unsigned count = 0;
  const auto get_count = nvml.function<Answer(unsigned*)>("nvmlDeviceGetCount_v2");
  const auto get_handle = nvml.function<Answer(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2");
  const Answer counted = get_count && get_handle ? get_count(&count) : -1;
  if (counted != kSuccess) add_reason(list, "NVML can't count the GPUs: " + nvml.text_of(counted));
  if (counted == kSuccess && count == 0) add_reason(list, "the NVIDIA driver shows no GPU");
  for (unsigned index = 0; counted == kSuccess && index < count; ++index) {
    Device device = nullptr;
    if (const Answer answer = get_handle(index, &device); answer != kSuccess) {
      add_reason(list, fmt::format("GPU {} is left out: {}", index, nvml.text_of(answer)));
      continue;
    }
    Gpu gpu{static_cast<int>(index), nvml.text("nvmlDeviceGetUUID", device), nvml.text("nvmlDeviceGetName", device),
            nvml.memory(device)};
    if (gpu.uuid.empty()) {
      add_reason(list, fmt::format("GPU {} is left out: the driver doesn't tell its UUID", index));
      continue;
    }
    list.gpus.push_back(std::move(gpu));
  }
  return list;
}

}  // namespace rt
