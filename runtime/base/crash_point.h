#pragma once
// Crash points: named places where the kill tests end the process with SIGKILL. They exist only in builds with
// RT_CRASH_POINTS (the presets test, debug, asan, tsan); elsewhere the macro is nothing.
//
// RT_CRASH_AT=NAME:N          the N-th pass (from 1) of the point NAME kills the process that passes it
// RT_CRASH_AT=NAME:N@PROGRAM  only processes of that program count ("rtctl", "rtd"; at most 15 bytes of its file's
// name) RT_CRASH_LOG=FILE           the firing makes FILE, with NAME in it, so a test can tell that its case did
// happen. Where
//                             FILE is there already nothing fires: one kill a file, whichever process comes first, so
//                             what is started again in the dead one's place goes on
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
