#include "rt/rtctl/view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "rt/rtctl/print.h"
#include "rt/tune/results.h"

namespace rt {
namespace {

tune::Results results(const tune::Tuner& tuner) {
  return tune::results_of(tuner.history(), [&](tune::TrialIndex trial) { return tuner.is_running(trial); });
}

}  // namespace

tune::Terminal terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
    return {size.ws_col, size.ws_row};
  return {100, 24};
}

SweepView::SweepView(Loudness loudness, std::int64_t ended_before)
    : loudness_(loudness), is_terminal_(::isatty(STDOUT_FILENO) == 1), ended_before_(ended_before) {}

SweepView::~SweepView() { flush_output(); }

tune::Progress SweepView::progress() const {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count(), ended_before_};
}

void SweepView::on_record(const tune::Record& record, const tune::Tuner& tuner) {
  if (loudness_ == Loudness::Quiet) return;
  const bool is_failure = std::holds_alternative<tune::RankFailed>(record);
  if (!is_terminal_ || loudness_ == Loudness::Verbose || is_failure)
    if (const auto line = tune::event_line(record, tuner.history())) say(*line);
  if (is_terminal_ && std::chrono::steady_clock::now() - drawn_ > std::chrono::milliseconds(100)) draw(tuner);
}

void SweepView::on_tick(const tune::Tuner& tuner) {
  if (is_terminal_ && loudness_ != Loudness::Quiet) draw(tuner);
}

void SweepView::say(const std::string& line) {
  erase();
  print("{}\n", line);
  flush_output();
}

void SweepView::draw(const tune::Tuner& tuner) {
  drawn_ = std::chrono::steady_clock::now();
  const tune::Terminal size = terminal_size();
  const auto frame = tune::live_frame(results(tuner), progress(), {size.width, size.height > 2 ? size.height - 1 : 1});
  erase();
  for (const std::string& line : frame) print("{}\n", line);
  lines_on_screen_ = frame.size();
  flush_output();
}

// Takes the last frame off the screen.
void SweepView::erase() {
  if (lines_on_screen_ > 0) print("\033[{}A\033[J", lines_on_screen_);
  lines_on_screen_ = 0;
}

void SweepView::finish(const tune::Tuner& tuner) {
  erase();
  if (loudness_ == Loudness::Quiet) return;
  const tune::Results all = results(tuner);
  for (const std::string& line : tune::final_table(all, terminal_size().width)) print("{}\n", line);
  print("{}\n", tune::headline(all, progress()));
}

}  // namespace rt
