#include "rt/runtime/net/blocking_frames.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "rt/runtime/net/frame_header.h"
#include "rt/runtime/net/transport.h"

namespace rt {
namespace {

constexpr std::size_t kMaxControl = std::size_t{64} << 20;

Status read_all(int fd, char* to, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::recv(fd, to, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Error{Code::NotSent, "the connection has ended"};
    to += n;
    size -= static_cast<std::size_t>(n);
  }
  return Unit{};
}

}  // namespace

Status write_control(int fd, std::string_view body) {
  const FrameHeader header{static_cast<std::uint32_t>(body.size()), static_cast<std::uint32_t>(FrameType::Control), 0};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(body);
  bytes.append(frame_padding(body.size()), '\0');
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t n = ::send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Error{Code::NotSent, std::string("cannot send: ") + std::strerror(errno)};
    at += static_cast<std::size_t>(n);
  }
  return Unit{};
}

Result<std::string> read_control(int fd) {
  FrameHeader header;
  RT_CHECK(read_all(fd, reinterpret_cast<char*>(&header), sizeof header));
  if (header.type != static_cast<std::uint32_t>(FrameType::Control) || header.size > kMaxControl)
    return Error{Code::Corrupt, "the peer sent no control frame of rt: size " + std::to_string(header.size) +
                                    ", type " + std::to_string(header.type)};
  std::string body(header.size + frame_padding(header.size), '\0');
  RT_CHECK(read_all(fd, body.data(), body.size()));
  body.resize(header.size);
  return body;
}

}  // namespace rt
