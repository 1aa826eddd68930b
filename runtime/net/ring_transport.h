#pragma once
// Rings as a Transport: two rings and the peers' bells, agreed on over a connected Unix socket. That socket stays open
// for nothing but to tell that the other side is gone.
//
// The side that connected makes the shared memory. Frames over a quarter of a ring go in pieces. What the peer doesn't
// read is kept up to TransportLimits::max_queue. A peer that breaks its ring, or passes what is no sealed memory of the
// right size, is closed with Code::Corrupt. Handlers run on the thread that reads the process's rings (ring_poller.h):
// the event loop's, or one that waits.

#include <boost/asio/io_context.hpp>
#include <memory>

#include "rt/runtime/net/transport.h"

namespace rt {

enum class RingSide { Connecting, Accepting };

// Takes `fd` over: a connected Unix stream socket.
Result<std::shared_ptr<Transport>> make_ring_transport(boost::asio::io_context& io, int fd, RingSide side,
                                                       TransportLimits limits = {});

}  // namespace rt
