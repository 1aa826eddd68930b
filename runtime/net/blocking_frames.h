#pragma once
// Frames on a plain blocking socket, for a process of one thread without an event loop: the fork server.
// The same bytes as net/unix_socket.h.

#include <cstdint>
#include <string>
#include <string_view>

#include "rt/runtime/base/result.h"

namespace rt {

Status write_control(int fd, std::string_view body);

// The next Control's body, aligned to 8. Code::NotSent at the end of the connection.
Result<std::string> read_control(int fd);

}  // namespace rt
