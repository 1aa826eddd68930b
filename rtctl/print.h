#pragma once
// What rtctl prints. A write that fails (a terminal that was closed, a full disk, a reader that is gone) never throws
// and never ends the process: a sweep goes on, its journal is the truth. Who prints a result asks at the end whether
// it arrived.
//
// Thread: any; a call's text stays together as far as stdio keeps it. stdout is buffered until `flush_output`.

#include <fmt/format.h>

#include <string_view>

namespace rt {

void print_text(std::string_view text);        // to stdout
void print_error_text(std::string_view text);  // to stderr; waits for nobody who prints to stdout
void flush_output();

template <class... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  print_text(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void print_error(fmt::format_string<Args...> format, Args&&... args) {
  print_error_text(fmt::format(format, std::forward<Args>(args)...));
}

// "rtctl: `message`" on stderr, after what was printed to stdout; returns `exit_code`.
int complain(std::string_view message, int exit_code);

// For a command whose output is all that it is run for: kFailed, said on stderr, where some of it could not be written,
// else `exit_code`.
int with_output_written(int exit_code);

}  // namespace rt
