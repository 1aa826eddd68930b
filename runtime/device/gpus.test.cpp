#include "rt/runtime/device/gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

namespace rt {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Gpus : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("RT_FAKE_NVML"); }
  GpuList list(const char* mode = "") {
    ::setenv("RT_FAKE_NVML", mode, 1);
    return list_gpus(RT_FAKE_NVML_LIBRARY);
  }
};

TEST_F(Gpus, AreListedByIndexWithUuidNameAndMemory) {
  const GpuList found = list();
  ASSERT_EQ(found.gpus.size(), 3u);
  EXPECT_EQ(found.gpus[2],
            (Gpu{2, "GPU-11111111-aaaa-bbbb-cccc-000000000003", "NVIDIA L40S", std::uint64_t{46068} << 20}));
  EXPECT_THAT(found.reason, IsEmpty());
}

TEST_F(Gpus, ALostOneIsLeftOutAndSaid) {
  const GpuList found = list("lost");
  ASSERT_EQ(found.gpus.size(), 2u);
  EXPECT_EQ(found.gpus[1].index, 2);
  EXPECT_EQ(found.reason, "GPU 1 is left out: GPU is lost");
}

TEST_F(Gpus, AreNoneWithoutADriverAndTheReasonIsSaid) {
  EXPECT_THAT(list_gpus("libno-such-nvml.so.1").gpus, IsEmpty());
  EXPECT_THAT(list_gpus("libno-such-nvml.so.1").reason, StartsWith("no NVIDIA driver: libno-such-nvml.so.1"));
  EXPECT_EQ(list("no_driver").reason, "NVML did not start: Driver Not Loaded");
  EXPECT_EQ(list("none").reason, "the NVIDIA driver shows no GPU");
}

TEST_F(Gpus, AreListedByAnOldDriverThatLacksFunctions) {
  const GpuList found = list_gpus(RT_FAKE_OLD_NVML_LIBRARY);
  ASSERT_EQ(found.gpus.size(), 3u);
  EXPECT_EQ(found.gpus[0], (Gpu{0, "GPU-11111111-aaaa-bbbb-cccc-000000000001", "", std::uint64_t{46068} << 20}));
}

TEST_F(Gpus, ALibraryThatIsNoNvmlIsNoDriver) {
  const GpuList found = list_gpus("libm.so.6");
  EXPECT_THAT(found.gpus, IsEmpty());
  EXPECT_EQ(found.reason, "NVML did not start: the driver's library lacks the function");
}

}  // namespace
}  // namespace rt
