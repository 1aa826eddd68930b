#include "rt/actors/serving.h"

#include <chrono>
#include <ctime>

#include "rt/actors/worker_context.h"

namespace rt::detail {
namespace {

std::int64_t monotonic_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Serving::Serving(Mailbox& mailbox) : mailbox_(mailbox) {
  mailbox_.set_urgent([this](const Mailbox::Letter& letter) { return take_urgent(letter); });
  mailbox_.set_on_cancel([this](const Transport* caller, std::uint64_t sequence) { cancel({caller, sequence}); });
  mailbox_.set_on_probe([this](const Transport* caller, std::uint64_t sequence, std::string_view probe) {
    send_on({caller, sequence}, probe);
  });
  mailbox_.set_on_grant([this](const Transport* caller, std::uint64_t sequence, std::uint64_t items) {
    sequence == 0 ? end_streams(caller) : grant({caller, sequence}, items);
  });
}
Serving::~Serving() = default;

void Serving::open(Actor actor) {
  const auto run_in_group = [this](const Mailbox::Letter& letter, CallSlot& slot) {
    mailbox_.picked_up(letter);
    run(letter, find_method(letter.header.method), slot);
  };
  const std::lock_guard lock(mutex_);
  for (const auto& [name, threads] : actor.groups) groups_[name] = actor.make_group(threads, run_in_group);
  if (actor.threads > 1) groups_[""] = actor.make_group(actor.threads, run_in_group);
  if (const auto common = groups_.find(""); common != groups_.end()) common_ = common->second.get();
  actor_ = std::move(actor);
  first_.waits().belongs_to(mailbox_.actor(), actor_.place.actor);
}

void Serving::close() {
  common_ = nullptr;
  decltype(groups_) groups;
  {
    const std::lock_guard lock(mutex_);
    groups = std::exchange(groups_, {});
  }
  groups.clear();
  const std::lock_guard lock(mutex_);
  actor_.object = nullptr;
}

bool Serving::take_urgent(const Mailbox::Letter& letter) {
  const MethodEntry method = find_method(letter.header.method);
  if (!method.is_urgent) return false;
  {
    const std::lock_guard lock(mutex_);
    if (!actor_.object && method.needs_object) return false;
  }
  answer(letter, run_method(letter, method), /*may_wait=*/false);  // it may not block the thread that empties queues
  return true;
}

void Serving::serve() {
  Executor::current() = &mailbox_;
  const WaitWatch::Scope watched(first_.waits());
  while (true) take_on(mailbox_.take());
}

// On the thread that serves.
void Serving::take_on(Mailbox::Letter& letter) {
  const MethodEntry method = find_method(letter.header.method);
  CallGroup* const group = group_of(method);
  if (!group) return run(letter, method, first_);
  mailbox_.set_aside(letter);
  group->push(std::move(letter));
}

CallGroup* Serving::group_of(const MethodEntry& method) {
  if (method.begin || method.is_first) return nullptr;
  if (method.group.empty() || groups_.empty()) return common_;
  const auto it = groups_.find(method.group);
  return it == groups_.end() ? common_ : it->second.get();
}

void Serving::run(const Mailbox::Letter& letter, const MethodEntry& method, CallSlot& slot) {
  if (letter.header.deadline_ns != 0 && monotonic_now() > letter.header.deadline_ns) {
    Answer expired{.outcome = wire::Outcome::Expired, .body = {}};
    return answer(letter, expired, /*may_wait=*/true);
  }
  if (method.begin && method.of == actor_.of) return begin(letter, method);
  slot.begin(letter.from.get(), letter.header.sequence, letter.header.method);
  const Answer result = run_method(letter, method);
  slot.end();
  answer(letter, result, /*may_wait=*/true);
}

Serving::Answer Serving::run_method(const Mailbox::Letter& letter, const MethodEntry& method) {
  Answer result{.body = Encoder(mailbox_.store().store())};
  if (method.of != 0 && method.of != actor_.of) {
    result.outcome = wire::Outcome::WrongClass;
    return result;
  }
  if (!method.invoke) {
    result.outcome = wire::Outcome::UnknownMethod;
    return result;
  }
  try {
    Decoder from(letter.arguments.view(), actor_.context, &letter.objects);
    method.invoke(actor_.object.get(), from, result.body);
    return result;
  } catch (const WorkerEnds&) {
    throw;
  } catch (...) {
    return threw();
  }
}

Serving::Answer Serving::threw() const {
  Answer answer{.outcome = wire::Outcome::Threw, .body = {}};
  encode(answer.body, thrown_here(std::current_exception(), actor_.place));
  return answer;
}

std::vector<Serving::Running> Serving::running() {
  std::vector<Running> all;
  const auto add = [&](const RunningCall& call, bool is_coroutine) {
    if (const std::uint64_t method = call.method(); method != 0)
      all.push_back({find_method(method).name, call.runs_for(), is_coroutine});
  };
  add(first_.call(), false);
  const std::lock_guard lock(mutex_);
  for (const auto& [name, group] : groups_) group->look([&](const RunningCall& call) { add(call, false); });
  for (const auto& [key, coroutine] : coroutines_)
    if (coroutine) add(call_of(*coroutine), true);
  return all;
}

void Serving::answer(const Mailbox::Letter& letter, const Answer& answer, bool may_wait) {
  if (letter.header.sequence == 0) return;
  const Status sent = say(letter, answer.outcome, answer.body.bytes(), may_wait, answer.body.attachments());
  const bool can_never_be_sent = !sent && (sent.error().code == Code::Invalid || sent.error().code == Code::Lost ||
                                           sent.error().code == Code::Refused);
  if (!can_never_be_sent) return;  // else it is too long, or refers to what is gone
  Encoder body;
  Thrown thrown = actor_.place;
  thrown.type = "rt::Exception";
  thrown.text = sent.error().message;
  encode(body, thrown);
  (void)say(letter, wire::Outcome::Threw, body.bytes(), may_wait);
}

// A caller that reads too slowly holds the actor back; one that is gone wants no answer.
Status Serving::say(const Mailbox::Letter& letter, wire::Outcome outcome, std::string_view body, bool may_wait,
                    const Attachments& objects) {
  wire::CallHeader header = letter.header;
  header.outcome = outcome;
  const auto send = [&] {
    if (!objects.empty())
      return mailbox_.store().send(*letter.from, FrameType::Reply, mailbox_.actor(), header, body, objects);
    const std::string_view head(reinterpret_cast<const char*>(&header), sizeof header);
    return letter.from->send(FrameType::Reply, mailbox_.actor(), head, body);
  };
  Status sent = send();
  while (may_wait && !sent && sent.error().code == Code::Unavailable) {
    mailbox_.pause();
    sent = send();
  }
  return sent;
}

}  // namespace rt::detail
