#pragma once
// For tests of actors by the library that people use: a cluster in a sandbox, which leaves nothing behind. The test's
// own program is the job program, so it is linked with support/job_program.cpp for its main.

#include <gtest/gtest.h>
#include <rt/rt.h>

#include <chrono>
#include <cstdlib>
#include <optional>

#include "rt/tests/support/sandbox.h"

namespace rt::testing {

inline constexpr std::chrono::seconds kLimit{40};

class ClusterTest : public ::testing::Test {
 protected:
  explicit ClusterTest(const ConnectOptions& options) {
    ::setenv("RT_RUN_DIR", sandbox.path().c_str(), 1);
    cluster.emplace(rt::connect(0, nullptr, options));
  }
  ~ClusterTest() override {
    cluster.reset();
    EXPECT_EQ(sandbox.leftovers(), "");
  }

  Sandbox sandbox;
  std::optional<rt::Cluster> cluster;
};

template <class R>
Error error_of(const Future<R>& future) {
  const auto result = future.result(kLimit);
  return result ? Error{Code::Invalid, "it returned"} : result.error();
}

}  // namespace rt::testing
