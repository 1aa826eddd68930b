#include "rt/rtctl/print.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "rt/rtctl/commands.h"

namespace rt {
namespace {

std::atomic<int> first_failure = 0;  // errno of stdout's; 0: all has been written so far

void note_failure() {
  int none = 0;
  first_failure.compare_exchange_strong(none, errno != 0 ? errno : EIO);
}

}  // namespace

void print_text(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size()) note_failure();
}

void flush_output() {
  if (std::fflush(stdout) != 0) note_failure();
}

void print_error_text(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);  // there is nowhere left to say that it failed
}

int complain(std::string_view message, int exit_code) {
  flush_output();
  print_error("rtctl: {}\n", message);
  return exit_code;
}

int with_output_written(int exit_code) {
  flush_output();
  const int failure = first_failure;
  if (failure == 0) return exit_code;
  return complain(fmt::format("cannot write all of the output to stdout: {}; what was printed is not complete",
                              std::strerror(failure)),
                  exit_code == 0 ? kFailed : exit_code);
}

}  // namespace rt
