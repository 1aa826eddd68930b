#pragma once
// ProcessStore: the node's object store in this process, and the objects that go with messages from process to process.
//
// Owner: the process's event loop (it is a service of it). Threads: any. In a process without a store large values are
// copied through the rings, and a message with objects can be neither sent nor read.
//
// An object in a message belongs to the receiver from the moment it is sent. What a process that died had sent and this
// one will never read is dropped once its connections are read to their ends.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "rt/actors/hello.h"
#include "rt/runtime/net/transport.h"
#include "rt/runtime/store/store.h"
#include "rt/runtime/wire/call.h"

namespace rt::detail {

class ProcessStore : public boost::asio::execution_context::service {
 public:
  using key_type = ProcessStore;
  static boost::asio::execution_context::id id;
  explicit ProcessStore(boost::asio::execution_context& context);
  static ProcessStore& of(boost::asio::io_context& io) { return boost::asio::use_service<ProcessStore>(io); }

  void open(const Joined& joined);         // as the agent's hello says
  void set(std::shared_ptr<Store> store);  // before there is a connection
  Store* store() const { return store_.get(); }

  // A message: header, the objects, the body. As Transport::send; Code::Lost where an object is gone.
  Status send(Transport& to, FrameType type, std::uint64_t route, wire::CallHeader header, std::string_view body,
              const Attachments& objects);
  // The objects of a message that has come; `body` becomes what follows them. Code::Lost, Corrupt, Unavailable.
  Status receive(const Transport& from, const wire::CallHeader& header, std::string_view& body, Attachments& objects);

  // A connection from and to the process at its other end.
  void opened(pid_t peer);
  void closed(pid_t peer);

 private:
  void shutdown() override;
  void look_soon();
  void look();

  boost::asio::steady_timer timer_;
  std::shared_ptr<Store> store_;
  std::mutex mutex_;  // guards what follows
  std::unordered_map<pid_t, int> connections_;
  std::unordered_map<pid_t, int> gone_;  // processes without a connection, and how often they were looked at since
  bool is_looking_ = false;
};

}  // namespace rt::detail
