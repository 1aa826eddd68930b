#pragma once
// What a person sees while a sweep runs: a live table in a terminal, one line an event where the output is piped.

#include <chrono>
#include <memory>
#include <string>

#include "rt/tune/runner.h"
#include "rt/tune/table.h"

namespace rt {

enum class Loudness { Quiet, Normal, Verbose };

class SweepView {
 public:
  SweepView(Loudness loudness, std::int64_t ended_before);
  ~SweepView();

  void on_record(const tune::Record& record, const tune::Tuner& tuner);
  void on_tick(const tune::Tuner& tuner);
  void say(const std::string& line);      // above the table
  void finish(const tune::Tuner& tuner);  // the table at the end
  tune::Progress progress() const;

 private:
  void draw(const tune::Tuner& tuner);
  void erase();

  const Loudness loudness_;
  const bool is_terminal_;
  const std::int64_t ended_before_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point drawn_{};
  std::size_t lines_on_screen_ = 0;
};

tune::Terminal terminal_size();  // of stdout; 100 x 24 where it isn't a terminal

}  // namespace rt
