#pragma once
// Descriptors passed over a Unix socket, with bytes.

#include <string>
#include <string_view>
#include <vector>

#include "rt/runtime/base/files.h"

namespace rt {

// Few bytes and at most 8 descriptors, which stay the caller's. The socket may be non-blocking: a fresh one has room.
Status send_with_fds(int socket, std::string_view bytes, const std::vector<Fd>& fds);

struct Received {
  std::string bytes;  // empty and not would_block: the connection has ended
  std::vector<Fd> fds;
  bool would_block = false;
};

// Up to `most` bytes. Code::Corrupt where more than `most_fds` descriptors came with them: those are closed.
Result<Received> receive_with_fds(int socket, std::size_t most, std::size_t most_fds);

}  // namespace rt
