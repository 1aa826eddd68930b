#pragma once
// Crash points: named places where the kill tests end the process with SIGKILL. They exist only in builds with
// RT_CRASH_POINTS (the presets test, debug, asan, tsan); elsewhere the macro is nothing.
//
// RT_CRASH_AT=NAME:N   the N-th pass (from 1) of the point NAME kills the process that passes it
// RT_CRASH_LOG=FILE    each firing appends NAME to FILE first, so a test can tell that its case did happen
//
// A count is a process's own: a forked child starts at 0 again only if the parent never passed the point.

#ifdef RT_CRASH_POINTS
namespace rt {
void crash_point(const char* name);
}
#define RT_CRASH_POINT(name) ::rt::crash_point(name)
#else
#define RT_CRASH_POINT(name) static_cast<void>(0)
#endif
