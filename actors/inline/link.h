#pragma once
// InlineLink: a Transport between two parties of one scheduler. What is sent arrives when its turn comes.
//
// Owner: as any transport's, itself from `start` on until it has closed. Its limits are memory's.

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "rt/actors/inline/scheduler.h"
#include "rt/runtime/net/transport.h"
#include "rt/runtime/wire/large.h"

namespace rt::detail {

class InlineLink final : public Transport, public std::enable_shared_from_this<InlineLink> {
 public:
  using Pair = std::pair<std::shared_ptr<InlineLink>, std::shared_ptr<InlineLink>>;
  static Pair make_pair(Scheduler& scheduler, Party& first, Party& second);

  InlineLink(Scheduler& scheduler, Party& self, Party& peer) : scheduler_(scheduler), self_(self), peer_(peer) {}
  void start(Handlers handlers) override;
  Status send(FrameType type, std::uint64_t route, std::string_view head, std::string_view tail) override;
  Status send_with(FrameType type, std::uint64_t route, std::string_view head, std::string_view tail,
                   const Attachments& objects) override;
  void hold() override { is_held_ = true; }
  void resume() override;
  void close() override;

 private:
  struct Message {
    FrameType type;
    std::uint64_t route;
    std::string body;
    Attachments objects;
  };
  void arrive(Message message);
  void hand_out(Message message);
  void on_peer_closed();

  Scheduler& scheduler_;
  Party& self_;
  Party& peer_;  // gone once this is closed
  std::weak_ptr<InlineLink> other_;
  Handlers handlers_;
  std::shared_ptr<InlineLink> keeps_itself_;
  bool is_closed_ = false, is_held_ = false;
  std::deque<Message> kept_;  // that arrived while it was held
};

}  // namespace rt::detail
