// Cores and memory as the kernel's files describe them, laid out in a folder of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "rt/runtime/base/files.h"
#include "rt/runtime/base/temporary_folder.h"
#include "rt/runtime/device/cpus.h"
#include "rt/runtime/device/memory.h"
#include "rt/runtime/device/oom_kills.h"

namespace rt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kV1Mounts =
    "30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "31 25 0:27 / /sys/fs/cgroup/memory rw,nosuid shared:10 - cgroup cgroup rw,memory\n";
constexpr const char* kV1Groups = "4:memory:/slurm/job_7\n3:cpu,cpuacct:/slurm/job_7\n1:name=systemd:/\n0::/\n";
constexpr const char* kV2Mounts = "29 23 0:25 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kV2Groups = "0::/slurm/job_7\n";

class Shares : public ::testing::Test {
 protected:
  void SetUp() override {
    put("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\nMems_allowed_list:\t0\n");
    put("proc/meminfo", "MemTotal:       16384000 kB\nMemFree:         1000 kB\n");
    put("proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max address space         unlimited            unlimited            bytes     \n");
  }
  void use_v1() {
    put("proc/self/cgroup", kV1Groups);
    put("proc/self/mountinfo", kV1Mounts);
  }
  void use_v2() {
    put("proc/self/cgroup", kV2Groups);
    put("proc/self/mountinfo", kV2Mounts);
  }
  void put(const std::string& path, std::string_view text) {
    const auto file = root.path() / path;
    ASSERT_TRUE(make_folders(file.parent_path()));
    ASSERT_TRUE(write_file_atomic(file, text));
  }
  CpuShare cpus() { return usable_cpus(root.path()).get(); }
  MemoryShare memory() { return usable_memory(root.path()).get(); }
  TemporaryFolder root;
};

constexpr std::uint64_t kMachine = std::uint64_t{16384000} * 1024;

TEST_F(Shares, AreTheAffinityAndTheMachinesMemoryWithoutLimits) {
  use_v2();
  EXPECT_THAT(cpus().cores, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(cpus().usable(), 8.0);
  EXPECT_EQ(memory().bytes, kMachine);
  EXPECT_THAT(cpus().notices, IsEmpty());
}

TEST_F(Shares, V2LimitsCountOnEveryLevel) {
  use_v2();
  put("sys/fs/cgroup/slurm/job_7/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/slurm/cpu.max", "250000 100000\n");
  put("sys/fs/cgroup/slurm/job_7/memory.max", "max\n");
  put("sys/fs/cgroup/slurm/job_7/memory.high", "4000000000\n");
  put("sys/fs/cgroup/slurm/memory.max", "5000000000\n");
  EXPECT_EQ(cpus().quota, 2.5);
  EXPECT_EQ(cpus().threads(), 3);
  EXPECT_EQ(memory().bytes, 4'000'000'000u);
}

TEST_F(Shares, V1LimitsCountOnEveryLevel) {
  use_v1();
  put("sys/fs/cgroup/cpu,cpuacct/slurm/job_7/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu,cpuacct/slurm/job_7/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_quota_us", "50000\n");
  put("sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "9223372036854771712\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000\n");
  EXPECT_EQ(cpus().quota, 0.5);
  EXPECT_EQ(cpus().usable(), 0.5);
  EXPECT_EQ(cpus().threads(), 1);
  EXPECT_EQ(memory().bytes, 1'000'000u);
}

TEST_F(Shares, AQuotaAboveTheAffinityGivesNoMoreThanTheAffinity) {
  use_v2();
  put("proc/self/status", "Cpus_allowed_list:\t2,5-6\n");
  put("sys/fs/cgroup/cpu.max", "1600000 100000\n");
  EXPECT_THAT(cpus().cores, ElementsAre(2, 5, 6));
  EXPECT_EQ(cpus().usable(), 3.0);
}

TEST_F(Shares, AContainersMountShowsItsOwnGroupAsTheTop) {
  put("proc/self/cgroup", "3:cpu,cpuacct:/docker/abc\n");
  put("proc/self/mountinfo", "30 25 0:26 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpus().quota, 3.0);
}

TEST_F(Shares, AGroupOutsideOfTheMountIsSaidToBeUnknown) {
  for (const auto& [group, mount_root] : {std::pair{"/../..", "/"}, {"/docker/abcdef", "/docker/abc"}, {"/a", "/.."}}) {
    put("proc/self/cgroup", std::string("0::") + group + "\n");
    put("proc/self/mountinfo",
        std::string("29 23 0:25 ") + mount_root + " /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
    EXPECT_THAT(cpus().notices, ElementsAre(HasSubstr("cpu limit unknown"))) << group;
    EXPECT_THAT(memory().notices, ElementsAre(HasSubstr("memory limit unknown"))) << group;
    EXPECT_EQ(cpus().usable(), 8.0);
  }
}

TEST_F(Shares, TheLimitOfTheAddressSpaceCounts) {
  use_v2();
  put("proc/self/limits", "Max address space         2000000000           unlimited            bytes     \n");
  EXPECT_EQ(memory().bytes, 2'000'000'000u);
}

TEST_F(Shares, AMissingFileIsNamed) {
  EXPECT_THAT(usable_cpus("/nowhere").error().message, HasSubstr("/nowhere/proc/self/status"));
  EXPECT_THAT(usable_memory("/nowhere").error().message, HasSubstr("/nowhere/proc/meminfo"));
}

TEST(CpuList, IsParsedAsTheKernelWritesIt) {
  EXPECT_THAT(parse_cpu_list("0").get(), ElementsAre(0));
  EXPECT_THAT(parse_cpu_list("0-2,8,10-11").get(), ElementsAre(0, 1, 2, 8, 10, 11));
  for (const char* wrong : {"", ",", "1,", "3-1", "1-", "a", "1 2", "-1"}) {
    EXPECT_EQ(parse_cpu_list(wrong).error().code, Code::Invalid) << wrong;
  }
}

TEST(ThisMachine, ItsCoresAreThoseOfTheAffinity) {
  cpu_set_t set;
  ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  const CpuShare share = usable_cpus().get();
  EXPECT_EQ(share.cores.size(), static_cast<std::size_t>(CPU_COUNT(&set)));
  for (const int core : share.cores) EXPECT_TRUE(CPU_ISSET(core, &set));
  EXPECT_GT(usable_memory().get().bytes, 0u);
}

// --- the kernel's kills ------------------------------------------------------------------------------------------

TEST_F(Shares, CountTheKernelsKillsInOurOwnControlGroup) {
  put("proc/vmstat", "nr_free_pages 5\noom_kill 40\n");
  use_v1();
  put("sys/fs/cgroup/memory/slurm/job_7/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  EXPECT_EQ(OomKills(root.path()).count(), 3u);
  use_v2();
  put("sys/fs/cgroup/slurm/job_7/memory.events", "low 0\nhigh 0\nmax 9\noom 7\noom_kill 2\noom_group_kill 0\n");
  EXPECT_EQ(OomKills(root.path()).count(), 2u);
}

TEST_F(Shares, CountTheWholeMachinesKillsWhereNoGroupDoes) {
  use_v2();
  EXPECT_EQ(OomKills(root.path()).count(), 0u);
  put("proc/vmstat", "nr_free_pages 5\noom_kill 40\n");
  EXPECT_EQ(OomKills(root.path()).count(), 40u);
}

}  // namespace
}  // namespace rt
