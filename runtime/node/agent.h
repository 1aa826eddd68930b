#pragma once
// Agent: a node's rtd. Starts, watches and kills processes; carries its clients' requests to the head and back.
//
// Thread: one event loop. It decides nothing about resources: the head does. It keeps no state that a restart needs.
// Life: ends when its head is gone, or, embedded, when the driver that started it is gone; in both cases every process
// tree below it is dead before it ends.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rt/runtime/net/transport.h"
#include "rt/runtime/net/unix_socket.h"
#include "rt/runtime/node/death_cause.h"
#include "rt/runtime/node/fork_server_link.h"
#include "rt/runtime/store/sweeper.h"
#include "rt/runtime/wire/control.capnp.h"

namespace rt {

struct AgentOptions {
  std::string run_folder;  // holds node.sock, head.sock, actors/, logs/
  std::string mark;        // "RT_RUN=..." in the environment of all that this run starts
  std::vector<int> cores;  // as in wire::NodeFacts
  std::vector<std::string> gpus;
  std::uint64_t memory = 0;  // bytes
  std::map<std::string, std::uint64_t> resources = {};
  std::uint64_t object_store = 0;  // bytes of objects at most; 0: it has no store
  // How many processes the kernel has ended for want of memory, as far as that can be told.
  std::function<std::uint64_t()> oom_kills = [] { return std::uint64_t{0}; };
  int driver_fd = -1;  // embedded: the socket to the driver that started this agent
};

class Agent {
 public:
  Agent(boost::asio::io_context& io, AgentOptions options);
  Status start();  // connects to the head and registers; then run `io`. Clients are heard once the head has answered
  void stop();     // kills all trees and stops `io`

 private:
  using ClientId = std::uint64_t;
  struct Worker {
    std::uint64_t actor = 0;
    std::uint32_t incarnation = 0;
    pid_t pid = 0;        // 0: not forked yet
    ClientId client = 0;  // 0: it hasn't said hello
    bool kill_asked = false, deadline_passed = false;
    std::shared_ptr<boost::asio::steady_timer> deadline;  // to leave by itself
    std::uint64_t memory_limit = 0;                       // 0: none
    std::uint64_t memory_used = 0;                        // more than its limit: why it was killed
    std::string program;                                  // key of its fork server
    std::string log, address;
    std::uint64_t log_begin = 0;  // the log's size before this incarnation
  };

  // A process that was forked ahead: no actor's yet.
  struct Ahead {
    ClientId client = 0;
    pid_t pid = 0;
    std::string address;
    std::string log;  // where its output goes until it has an actor
  };
  // Of one program.
  struct Keeper {
    std::unique_ptr<ForkServerLink> fork_server;
    std::deque<Ahead> ahead;  // they wait
    int under_way = 0;        // forks ahead that were asked for and don't wait yet
    int failed = 0;           // that ended before they waited, since one did
  };
  static constexpr int kMostAhead = 8;   // of a program
  static constexpr int kMostFailed = 3;  // then none is forked ahead any more

  void on_registered(wire::NodeRegistered::Reader registered);
  void welcome(const std::shared_ptr<Transport>& transport, bool is_driver);
  ClientId on_hello(const std::shared_ptr<Transport>& transport, wire::Control::Reader control);  // 0: refused
  void refuse(const std::shared_ptr<Transport>& transport, std::uint64_t request, const Error& error);
  void on_client_frame(ClientId client, const Frame& frame);
  void on_client_closed(ClientId client);
  void send_client(ClientId client, std::string_view bytes);
  void drop_client(ClientId client, const std::string& why);
  void on_head_frame(const Frame& frame);

  void start_worker(wire::StartWorker::Reader start);
  void kill_worker(wire::Kill::Reader kill);
  void kill_at(std::chrono::milliseconds deadline, Worker& worker);
  void kill_tree_of(const Worker& worker);
  void make_store();
  void trim_store();
  void watch_memory();
  void look_at_memory();
  Result<Keeper*> keeper_of(wire::Program::Reader program);
  void give_start(const Ahead& process, Worker& worker, wire::StartWorker::Reader start);
  Status on_ahead(ClientId client, wire::Hello::Reader hello);
  bool forget_ahead(const std::string& key, pid_t pid);
  void fork_ahead_soon();
  void fork_ahead();
  void tell_started(const Worker& worker);
  void on_forked(const std::string& key, wire::Forked::Reader forked);
  void on_exited(const std::string& key, pid_t pid, int status);
  void on_fork_server_lost(const std::string& key, const Error& error);
  Death death_of(const Worker& worker, int status);
  void report_death(const Worker& worker, const Death& death);

  template <class Fill>
  void send_head(Fill&& fill);

  boost::asio::io_context& io_;
  const AgentOptions options_;
  std::shared_ptr<Transport> head_;
  std::unique_ptr<UnixListener> listener_;
  std::uint32_t node_ = 0;
  ClientId next_client_ = 0;
  std::map<ClientId, std::shared_ptr<Transport>> clients_;
  ClientId driver_ = 0;                    // 0: none yet, or not embedded
  std::map<std::string, Keeper> keepers_;  // by program
  std::map<ClientId, std::string> ahead_;  // the clients that were forked ahead and wait, and their programs
  boost::asio::steady_timer ahead_timer_;
  std::map<std::uint64_t, Worker> workers_;  // by actor
  std::map<pid_t, std::uint64_t> actor_of_pid_;
  int logs_ = 0;
  std::map<ClientId, pid_t> driver_pids_;  // that may hold objects
  std::unique_ptr<store::Sweeper> store_;  // none where there was no memory for one
  boost::asio::steady_timer store_timer_;
  boost::asio::steady_timer memory_timer_;  // runs while a worker has a limit
  bool watches_memory_ = false;
  std::uint64_t oom_kills_ = 0;  // at the last look
};

}  // namespace rt
