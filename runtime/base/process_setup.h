#pragma once
// What a process of rt does first in its main, before it opens a file or starts a thread.
//
// Owner: no state. Thread: the main one, alone.

namespace rt {

// Whichever of descriptors 0, 1 and 2 is closed is opened on /dev/null, so that no file of ours (a journal's segment,
// its lock, a socket) gets that number and takes in what somebody prints. Reading and printing fail as before.
void open_standard_streams();

// SIGINT, SIGTERM and SIGHUP are ignored, here and in what is forked: a batch system and systemd send them to all
// processes at once, and it is the driver that saves and stops. Its death ends this process.
void leave_signals_to_driver();

}  // namespace rt
