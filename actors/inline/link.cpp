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

Status InlineLink::send(FrameType type, std::uint64_t route, std::string_view head, std::string_view tail) {
  return send_with(type, route, head, tail, {});
}

// An actor that is being ended says nothing any more.
Status InlineLink::send_with(FrameType type, std::uint64_t route, std::string_view head, std::string_view tail,
                             const Attachments& objects) {
  const auto other = other_.lock();
  if (is_closed_ || !other || other->is_closed_ || self_.is_ending)
    return Error{Code::NotSent, "the connection is closed"};
  Message message{type, route, std::string(head), objects};
  message.body += tail;
  scheduler_.post(peer_, [other, message = std::move(message)]() mutable { other->arrive(std::move(message)); });
  return Unit{};
}

void InlineLink::arrive(Message message) {
  if (is_closed_ || !handlers_.on_frame || self_.is_ending) return;
  if (is_held_ || !kept_.empty()) return (void)kept_.push_back(std::move(message));
  hand_out(std::move(message));
}

void InlineLink::hand_out(Message message) {
  if (!handlers_.on_frame) return;
  const auto kept = shared_from_this();
  const auto on_frame = handlers_.on_frame;  // it may close this
  on_frame({message.type, message.route, message.body, message.objects.empty() ? nullptr : &message.objects});
}

// What was held arrives before anything that is sent from now on.
void InlineLink::resume() {
  is_held_ = false;
  scheduler_.post(self_, [self = shared_from_this()] {
    while (!self->kept_.empty() && !self->is_held_ && !self->is_closed_) {
      Message next = std::move(self->kept_.front());
      self->kept_.pop_front();
      self->hand_out(std::move(next));
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
