#pragma once
// What core_caf.cpp and core_ray.cpp share: their options, the clock, medians, and the JSON line of a figure.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace peers {

constexpr int kUnderWay = 1000;
using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Figures {
 public:
  Figures(std::string peer, bool is_quick) : peer_(std::move(peer)), is_quick_(is_quick) {}

  int rounds(int full) const { return is_quick_ ? std::max(full / 10, 2) : full; }

  // `facts` goes into the line as it is: ", \"name\": value".
  void line(const char* name, double value, const char* unit, const std::string& facts = "") const {
    std::printf("{\"name\": \"%s\", \"value\": %.4g, \"unit\": \"%s\", \"peer\": \"%s\"%s}\n", name, value, unit,
                peer_.c_str(), facts.c_str());
    std::fflush(stdout);
  }

  void left_out(const char* name, const char* why) const {
    std::fprintf(stderr, "%s: %s left out: %s\n", peer_.c_str(), name, why);
  }

  // `call` makes one call and waits for its result. Cold: the caller sleeps 1 ms before each.
  template <class Call>
  void sync_calls(int hot, int cold, Call call) const {
    for (int i = 0; i < rounds(500); ++i) call();  // connections are made, caches are warm
    line("core.call_sync_hot_p50", us_of(rounds(hot), false, call), "us");
    line("core.call_sync_cold_p50", us_of(rounds(cold), true, call), "us");
  }

 private:
  template <class Call>
  static double us_of(int count, bool is_cold, Call& call) {
    std::vector<double> times;
    for (int i = 0; i < count; ++i) {
      if (is_cold) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const auto begin = Clock::now();
      call();
      times.push_back(1e6 * seconds_since(begin));
    }
    return median(std::move(times));
  }

  const std::string peer_;
  const bool is_quick_;
};

inline bool has_quick(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const char* word) { return std::strcmp(word, "--quick") == 0; });
}

}  // namespace peers
