#pragma once
// Transport: a connection that carries frames in order, whole, both ways. One interface for Unix sockets and, later,
// rings and TCP; net/transport.conformance.h is what each of them must pass.
//
// Owner: itself from `start` on, until it has closed or its event loop is destroyed; whoever wants to send or close
// holds a shared_ptr too. Handlers hold it weakly, if at all: else it never goes. Threads: `send` and `close` from any
// thread; handlers run on the connection's executor, one at a time. Bounded: what the peer doesn't read is kept up to
// `max_queue` bytes, then `send` says Unavailable and nothing of that frame is sent (one frame is always taken); a
// frame over `max_frame` closes the connection. Danger: a frame's body is valid only during `on_frame`; it is aligned
// to 8 bytes. After `close` on the executor no handler runs; after `close` on another thread one may still be under
// way.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "rt/runtime/base/result.h"

namespace rt {

class Attachments;

enum class FrameType : std::uint32_t { Control = 1, Call = 2, Reply = 3, Cancel = 4, Grant = 5, Probe = 6 };
constexpr bool is_frame_type(std::uint32_t type) {
  return type >= static_cast<std::uint32_t>(FrameType::Control) && type <= static_cast<std::uint32_t>(FrameType::Probe);
}

struct Frame {
  FrameType type;
  std::uint64_t route;  // on an agent's way to the head: the client that a Control is from or for; else 0
  std::string_view body;
  const Attachments* objects = nullptr;  // where it came by send_with
};

struct TransportLimits {
  std::size_t max_frame = std::size_t{256} << 20;
  std::size_t max_queue = std::size_t{512} << 20;
};

class Transport {
 public:
  struct Handlers {
    std::function<void(const Frame&)> on_frame;
    // Once; never after close(). Code::Corrupt where the peer sent what is no frame, else NotSent: it has gone.
    std::function<void(const Error&)> on_close;
  };

  virtual ~Transport() = default;
  virtual void start(Handlers handlers) = 0;

  // The body is `head` followed by `tail`. NotSent when the connection is closed, Unavailable when its queue is full.
  virtual Status send(FrameType type, std::uint64_t route, std::string_view head, std::string_view tail = {}) = 0;

  // As send, with objects that the receiver is given as they are: within one process only. Elsewhere they are passed
  // through the node's store (actors/process_store.h).
  virtual Status send_with(FrameType, std::uint64_t, std::string_view, std::string_view, const Attachments&) {
    return Error{Code::Refused, "this connection is to another process: it carries bytes alone"};
  }

  // After a send of what must not wait: the peer looks at it soon, also where none of its threads is about to.
  virtual void alert() {}
  // The peer is known to be dead: what it has sent is still heard, then on_close.
  virtual void peer_is_dead() {}

  // From `hold` to `resume` no frame is handed out, but those of a read that is under way: what the peer sends waits on
  // its way here, and pushes back.
  virtual void hold() = 0;
  virtual void resume() = 0;

  virtual pid_t peer_pid() const { return 0; }  // of a process on this machine, where it is known

  virtual void close() = 0;  // frames not yet written are dropped; on_close isn't called
};

}  // namespace rt
