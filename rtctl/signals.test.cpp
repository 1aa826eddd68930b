#include "rt/rtctl/signals.h"

#include <gtest/gtest.h>

#include <csignal>
#include <tuple>
#include <vector>

namespace rt {
namespace {

using std::chrono::milliseconds;

// When each signal comes, and which demand it is.
struct Case {
  const char* what;
  std::vector<std::tuple<int, milliseconds, int>> signals;
};

const Case kCases[] = {
    {"Ctrl-C twice", {{SIGINT, milliseconds(0), 1}, {SIGINT, milliseconds(500), 2}}},
    {"timeout and scancel signal twice", {{SIGTERM, milliseconds(0), 1}, {SIGTERM, milliseconds(499), 0}}},
    {"systemd's SIGTERM and SIGHUP", {{SIGTERM, milliseconds(0), 1}, {SIGHUP, milliseconds(1), 0}}},
    {"an echo isn't the beginning of a new demand",
     {{SIGINT, milliseconds(0), 1}, {SIGINT, milliseconds(400), 0}, {SIGINT, milliseconds(600), 2}}},
    {"a terminal that closes saves", {{SIGHUP, milliseconds(0), 1}, {SIGHUP, milliseconds(900), 0}}},
    {"a terminal that closes while it saves", {{SIGINT, milliseconds(0), 1}, {SIGHUP, milliseconds(5000), 0}}},
    {"a kill after the terminal has closed", {{SIGHUP, milliseconds(0), 1}, {SIGTERM, milliseconds(5000), 2}}},
};

TEST(StopCount, TakesSignalsThatBelongTogetherAsOneDemand) {
  const StopCount::TimePoint begin{std::chrono::hours(1)};
  for (const Case& c : kCases) {
    StopCount demands;
    for (const auto& [signal, after, demand] : c.signals)
      EXPECT_EQ(demands.take(signal, begin + after), demand) << c.what << ", at " << after.count() << " ms";
  }
}

}  // namespace
}  // namespace rt
