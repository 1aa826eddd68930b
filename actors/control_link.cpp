#include "rt/actors/control_link.h"

namespace rt::detail {

void ControlLink::open(std::shared_ptr<Transport> agent, std::function<void(wire::Control::Reader)> on_notice,
                       std::function<void()> on_lost) {
  on_notice_ = std::move(on_notice);
  on_lost_ = std::move(on_lost);
  transport_ = std::move(agent);
  transport_->start(
      {.on_frame = [this](const Frame& frame) { on_frame(frame); }, .on_close = [this](const Error&) { lose(); }});
}

void ControlLink::close() {
  if (transport_) transport_->close();
}

std::uint64_t ControlLink::remember(OnReply on_reply) {
  const std::lock_guard lock(mutex_);
  requests_[next_request_] = std::move(on_reply);
  return next_request_++;
}

std::optional<ControlLink::OnReply> ControlLink::take(std::uint64_t request) {
  const std::lock_guard lock(mutex_);
  const auto it = requests_.find(request);
  if (it == requests_.end()) return std::nullopt;
  OnReply on_reply = std::move(it->second);
  requests_.erase(it);
  return on_reply;
}

void ControlLink::forget(std::uint64_t request) { (void)take(request); }

void ControlLink::transmit(std::uint64_t request, const std::string& bytes) {
  const Status sent = transport_ ? transport_->send(FrameType::Control, 0, bytes)
                                 : Error{Code::NotSent, "there is no connection to it"};
  if (sent || request == 0) return;
  if (const auto on_reply = take(request))
    (*on_reply)(Error{Code::Unavailable, "the node's agent: " + sent.error().message});
}

void ControlLink::on_frame(const Frame& frame) {
  const Status read = wire::with_message<wire::Control>(frame.body, [&](wire::Control::Reader control) {
    if (!control.isReply()) return on_notice_(control);
    const auto on_reply = take(control.getRequest());
    if (!on_reply) return;
    const auto reply = control.getReply();
    if (reply.isError())
      (*on_reply)(Error{static_cast<Code>(reply.getError().getCode()), wire::text(reply.getError().getMessage())});
    else
      (*on_reply)(reply);
  });
  if (!read) {
    transport_->close();
    lose();
  }
}

void ControlLink::lose() {
  fail_all({Code::Unavailable, "the node's agent (rtd) is gone"});
  if (!std::exchange(told_, true)) on_lost_();
}

void ControlLink::fail_all(const Error& error) {
  std::map<std::uint64_t, OnReply> requests;
  {
    const std::lock_guard lock(mutex_);
    requests.swap(requests_);
  }
  for (auto& [request, on_reply] : requests) on_reply(error);
}

Status KeyValueOfHead::set(std::string_view key, std::string_view value) {
  return link_.ask(
      [&](wire::Control::Builder control) {
        auto set = control.initKeyValue().initSet();
        set.setKey(std::string(key));
        set.setValue(wire::as_data(value));
      },
      [](wire::Reply::Reader) { return Unit{}; }, ControlLink::kAnswerLimit);
}

Result<std::string> KeyValueOfHead::wait_for(const std::vector<std::string>& keys, std::chrono::milliseconds deadline) {
  std::uint64_t number = 0;
  auto value = link_.ask(
      [&](wire::Control::Builder control) {
        number = control.getRequest();
        auto wanted = control.initKeyValue().initGet(static_cast<unsigned>(keys.size()));
        for (unsigned i = 0; i < keys.size(); ++i) wanted.set(i, keys[i]);
      },
      [](wire::Reply::Reader reply) { return wire::data(reply.getKeyValue().getValue()); }, deadline);
  if (value || value.error().code != Code::Deadline) return value;
  link_.send([&](wire::Control::Builder control) { control.initKeyValue().setCancel(number); }, nullptr);
  return Error{Code::Deadline, "key '" + (keys.empty() ? "" : keys.front()) + "'" +
                                   (keys.size() > 1 ? " and " + std::to_string(keys.size() - 1) + " more" : "") +
                                   " did not appear within " + std::to_string(deadline.count()) + " ms"};
}

Result<std::string> KeyValueOfHead::get(std::string_view key, std::chrono::milliseconds deadline) {
  return wait_for({std::string(key)}, deadline);
}

Status KeyValueOfHead::wait(const std::vector<std::string>& keys, std::chrono::milliseconds deadline) {
  const auto value = wait_for(keys, deadline);
  if (!value) return value.error();
  return Unit{};
}

Result<std::int64_t> KeyValueOfHead::add(std::string_view key, std::int64_t amount) {
  return link_.ask(
      [&](wire::Control::Builder control) {
        auto add = control.initKeyValue().initAdd();
        add.setKey(std::string(key));
        add.setAmount(amount);
      },
      [](wire::Reply::Reader reply) { return reply.getKeyValue().getNumber(); }, ControlLink::kAnswerLimit);
}

Result<std::string> KeyValueOfHead::compare_set(std::string_view key, std::string_view expected,
                                                std::string_view desired) {
  return link_.ask(
      [&](wire::Control::Builder control) {
        auto swap = control.initKeyValue().initCompareSet();
        swap.setKey(std::string(key));
        swap.setExpected(wire::as_data(expected));
        swap.setDesired(wire::as_data(desired));
      },
      [](wire::Reply::Reader reply) { return wire::data(reply.getKeyValue().getValue()); }, ControlLink::kAnswerLimit);
}

Result<bool> KeyValueOfHead::check(const std::vector<std::string>& keys) {
  return link_.ask(
      [&](wire::Control::Builder control) {
        auto wanted = control.initKeyValue().initCheck(static_cast<unsigned>(keys.size()));
        for (unsigned i = 0; i < keys.size(); ++i) wanted.set(i, keys[i]);
      },
      [](wire::Reply::Reader reply) { return reply.getKeyValue().getFound(); }, ControlLink::kAnswerLimit);
}

Result<bool> KeyValueOfHead::remove(std::string_view key) {
  return link_.ask([&](wire::Control::Builder control) { control.initKeyValue().setRemove(std::string(key)); },
                   [](wire::Reply::Reader reply) { return reply.getKeyValue().getFound(); }, ControlLink::kAnswerLimit);
}

}  // namespace rt::detail
