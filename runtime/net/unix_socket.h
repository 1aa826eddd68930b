#pragma once
// Unix sockets as a Transport, and the listener that accepts them. Frames are a 16-byte header (size, type, route), the
// body, and zeros up to a multiple of 8.
//
// A peer of another user is refused (SO_PEERCRED), a header that makes no sense closes the connection. Memory for a
// frame grows with the bytes that have arrived, never with what a header claims. Where no descriptor is free, callers
// wait in the listener's queue.

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "rt/runtime/base/files.h"
#include "rt/runtime/net/transport.h"

namespace rt {

// Takes `fd` over: a connected stream socket.
std::shared_ptr<Transport> make_unix_transport(boost::asio::io_context& io, int fd, TransportLimits limits = {});

// A connected blocking socket. Code::NotSent where nobody listens (any more), Invalid for a path over 107 bytes.
Result<Fd> connect_unix_socket(const std::string& path);
Result<std::shared_ptr<Transport>> connect_unix(boost::asio::io_context& io, const std::string& path,
                                                TransportLimits limits = {});

// Accepts until it is destroyed, on the event loop's thread; removes the socket's file then.
// Code::Invalid for a path over 107 bytes.
class UnixListener {
 public:
  using OnAccept = std::function<void(Fd)>;  // a connected non-blocking socket
  static Result<std::unique_ptr<UnixListener>> open(boost::asio::io_context& io, std::string path, OnAccept on_accept);
  virtual ~UnixListener() = default;
};

}  // namespace rt
