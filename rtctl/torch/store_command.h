#pragma once
// `rt-torch store`: hosts the c10d TCPStore of one gang of torchrun-style programs, in a process of its own, so that it
// lives exactly as long as whoever holds its standard input open. Prints {"port": N} once it can be reached.

#include "rt/runtime/base/result.h"

namespace rt::train {

Status run_store();

}  // namespace rt::train
