#pragma once
// ControlLink: requests to the agent and the head, joined to their replies. And the key-value space over it.
//
// Owner: the client. Threads: any; handlers and replies run on the I/O thread. When the agent is gone every request
// under way is answered with Code::Unavailable, then `on_lost` runs, once. After `close` that is for `fail_all` to do.

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "rt/actors/key_value.h"
#include "rt/runtime/net/ring_poller.h"
#include "rt/runtime/net/transport.h"
#include "rt/runtime/wire/control.capnp.h"
#include "rt/runtime/wire/message.h"

namespace rt::detail {

class ControlLink {
 public:
  static constexpr std::chrono::seconds kAnswerLimit{30};  // of the head, for what it decides at once
  using OnReply = std::function<void(Result<wire::Reply::Reader>)>;

  explicit ControlLink(boost::asio::io_context& io) : poller_(RingPoller::of(io)) {}
  void open(std::shared_ptr<Transport> agent, std::function<void(wire::Control::Reader)> on_notice,
            std::function<void()> on_lost);
  void close();
  void fail_all(const Error& error);  // answers every request under way; the connection is closed

  // Sends what `fill` builds; returns the request's number (0 where no reply is wanted).
  template <class Fill>
  std::uint64_t send(Fill&& fill, OnReply on_reply) {
    const std::uint64_t request = on_reply ? remember(std::move(on_reply)) : 0;
    capnp::MallocMessageBuilder builder;
    auto control = builder.initRoot<wire::Control>();
    control.setRequest(request);
    fill(control);
    transmit(request, wire::to_bytes(builder));
    return request;
  }

  void forget(std::uint64_t request);  // its reply is no longer wanted

  // Waits for the reply; never on the I/O thread.
  template <class Fill, class Read>
  auto ask(Fill&& fill, Read read, std::chrono::milliseconds limit)
      -> Result<std::decay_t<decltype(read(std::declval<wire::Reply::Reader>()))>> {
    using Answer = Result<std::decay_t<decltype(read(std::declval<wire::Reply::Reader>()))>>;
    struct Asked {
      Waiter waiter;
      std::optional<Answer> answer;
    };
    const auto asked = std::make_shared<Asked>();
    const std::uint64_t request = send(fill, [asked, read, this](Result<wire::Reply::Reader> reply) {
      asked->answer.emplace(reply ? answer_of<Answer>(read, *reply) : Answer(reply.error()));
      poller_.complete(asked->waiter);
    });
    if (poller_.wait(asked->waiter, SystemClock().now() + limit)) return *std::move(asked->answer);
    forget(request);
    return Error{Code::Deadline, "no answer from the head within " + std::to_string(limit.count()) + " ms"};
  }

 private:
  // A reply that doesn't hold what was asked for must not leave the asker without an answer.
  template <class Answer, class Read>
  static Answer answer_of(Read& read, wire::Reply::Reader reply) {
    try {
      return Answer(read(reply));
    } catch (const kj::Exception& e) {
      return Error{Code::Corrupt, std::string("damaged reply from the head: ") + e.getDescription().cStr()};
    }
  }

  std::uint64_t remember(OnReply on_reply);
  void transmit(std::uint64_t request, const std::string& bytes);
  void on_frame(const Frame& frame);
  void lose();
  std::optional<OnReply> take(std::uint64_t request);

  RingPoller& poller_;
  std::shared_ptr<Transport> transport_;
  std::function<void(wire::Control::Reader)> on_notice_;
  std::function<void()> on_lost_;
  bool told_ = false;  // on_lost_ has run
  std::mutex mutex_;   // guards all below
  std::uint64_t next_request_ = 1;
  std::map<std::uint64_t, OnReply> requests_;
};

class KeyValueOfHead final : public KeyValue {
 public:
  explicit KeyValueOfHead(ControlLink& link) : link_(link) {}
  Status set(std::string_view key, std::string_view value) override;
  Result<std::string> get(std::string_view key, std::chrono::milliseconds deadline) override;
  Status wait(const std::vector<std::string>& keys, std::chrono::milliseconds deadline) override;
  Result<std::int64_t> add(std::string_view key, std::int64_t amount) override;
  Result<std::string> compare_set(std::string_view key, std::string_view expected, std::string_view desired) override;
  Result<bool> check(const std::vector<std::string>& keys) override;
  Result<bool> remove(std::string_view key) override;

 private:
  Result<std::string> wait_for(const std::vector<std::string>& keys, std::chrono::milliseconds deadline);
  ControlLink& link_;
};

}  // namespace rt::detail
