#pragma once
// The subcommands of rtctl, one file each. Exit codes: 0 all well, 1 the work failed, 2 the command or a file was wrong
// (nothing was started), 130 stopped by Ctrl-C.

namespace CLI {
class App;
}

namespace rt {

inline constexpr int kFailed = 1, kWrong = 2, kInterrupted = 130;

void add_tune(CLI::App& app, int& exit_code);    // tune.cpp: tune FILE, tune --resume DIR, tune show DIR
void add_actors(CLI::App& app, int& exit_code);  // actors.cpp: actors
void add_actor(CLI::App& app, int& exit_code);   // actor.cpp: actor ACTOR
void add_stack(CLI::App& app, int& exit_code);   // stack.cpp: stack ACTOR
void add_bench(CLI::App& app, int& exit_code);   // bench.cpp: bench tune, bench train

}  // namespace rt
