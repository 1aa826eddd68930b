#pragma once
// HeadServer: the head's process around the pure Head: its socket, its journal, its agents.
//
// An embedded head begins afresh in a new term, whatever its journal holds; head/record.h replays one. A client that
// sends damaged bytes loses its connection; an agent that does loses its node. When the journal can't be written,
// requests are refused and what can't be refused (a death) ends the head.
//
// Thread: one event loop. Each message that changes the state is in the journal before an answer leaves.

#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <string>

#include "rt/runtime/head/head.h"
#include "rt/runtime/net/unix_socket.h"

namespace rt {

struct HeadOptions {
  std::string run_folder;  // holds head.sock and the folder head-journal
  int driver_fd = -1;      // embedded: gets one `done` when the head listens; the head ends when its other end closes
};

class HeadServer {
 public:
  static Result<std::unique_ptr<HeadServer>> open(boost::asio::io_context& io, HeadOptions options);
  ~HeadServer();

 private:
  struct Parts;
  explicit HeadServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace rt
