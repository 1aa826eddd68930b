#include "rt/actors/inline/link.h"

namespace rt::detail {

InlineLink::Pair InlineLink::make_pair(Scheduler& scheduler, Party& first, Party& second) {
  const Pair pair{std::make_shared<InlineLink>(scheduler, first, second),
                  std::make_shared<InlineLink>(scheduler, second, first)};
  pair.first->other_ = pair.second;
  pair.second->other_ = pair.first;
  return pair;
}

void InlineLink::start(Handlers handlers) {
  handlers_ = std::move(handlers);
  keeps_itself_ = shared_from_this();
}

// An actor that is being ended says nothing any more.
Status InlineLink::send(FrameType type, std::uint64_t route, std::string_view head, std::string_view tail) {
  const auto other = other_.lock();
  if (is_closed_ || !other || other->is_closed_ || self_.is_ending)
    return Error{Code::NotSent, "the connection is closed"};
  std::string body(head);
  body += tail;
  scheduler_.post(peer_, [other, type, route, body = std::move(body)] { other->arrive(type, route, body); });
  return Unit{};
}

void InlineLink::arrive(FrameType type, std::uint64_t route, std::string_view body) {
  if (is_closed_ || !handlers_.on_frame || self_.is_ending) return;
  if (is_held_ || !kept_.empty()) return (void)kept_.push_back({type, route, std::string(body)});
  hand_out(type, route, body);
}

void InlineLink::hand_out(FrameType type, std::uint64_t route, std::string_view body) {
  const auto kept = shared_from_this();
  const auto on_frame = handlers_.on_frame;  // it may close this
  on_frame({type, route, body});
}

// What was held arrives before anything that is sent from now on.
void InlineLink::resume() {
  is_held_ = false;
  scheduler_.post(self_, [self = shared_from_this()] {
    while (!self->kept_.empty() && !self->is_held_ && !self->is_closed_) {
      const Kept frame = std::move(self->kept_.front());
      self->kept_.pop_front();
      self->hand_out(frame.type, frame.route, frame.body);
    }
  });
}

void InlineLink::close() {
  if (std::exchange(is_closed_, true)) return;
  if (const auto other = other_.lock(); other && !other->is_closed_)
    scheduler_.post(peer_, [other] { other->on_peer_closed(); });
  const auto kept = std::exchange(keeps_itself_, nullptr);
  handlers_ = {};
}

void InlineLink::on_peer_closed() {
  if (std::exchange(is_closed_, true)) return;
  const auto kept = std::exchange(keeps_itself_, nullptr);
  const Handlers handlers = std::exchange(handlers_, {});
  if (handlers.on_close) handlers.on_close({Code::NotSent, "it has gone"});
}

}  // namespace rt::detail
