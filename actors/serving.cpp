#include "rt/actors/serving.h"

#include <poll.h>

#include <chrono>
#include <ctime>

#include "rt/actors/worker_context.h"

namespace rt::detail {
namespace {

std::int64_t monotonic_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status reply(const Mailbox::Letter& letter, wire::Outcome outcome, std::string_view body, std::uint64_t actor) {
  wire::CallHeader header = letter.header;
  header.outcome = outcome;
  return letter.from->send(FrameType::Reply, actor, {reinterpret_cast<const char*>(&header), sizeof header}, body);
}

}  // namespace

struct Serving::Coroutine : Executor::Job {
  Coroutine(Serving& of, const Mailbox::Letter& from) : serving(of), letter{from.from, from.header, Bytes()} {
    run = [](Executor::Job& job) {
      auto& ended = static_cast<Coroutine&>(job);
      ended.serving.finish(ended);
    };
  }

  Serving& serving;
  const Mailbox::Letter letter;  // without its arguments
  RunningCall call;
  std::unique_ptr<RunningTask> task;
  Coroutines::iterator place;
  bool is_starting = false, has_ended = false;
};

Serving::Serving(Mailbox& mailbox) : mailbox_(mailbox) {
  mailbox_.set_urgent([this](const Mailbox::Letter& letter) { return take_urgent(letter); });
  mailbox_.set_on_cancel([this](const Transport* caller, std::uint64_t sequence) { cancel({caller, sequence}); });
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
  Answer result;
  if (method.of != 0 && method.of != actor_.of) {
    result.outcome = wire::Outcome::WrongClass;
    return result;
  }
  if (!method.invoke) {
    result.outcome = wire::Outcome::UnknownMethod;
    return result;
  }
  try {
    Decoder from(letter.arguments.view(), actor_.context);
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
    if (coroutine) add(coroutine->call, true);
  return all;
}

// --- coroutines -----------------------------------------------------------------------------------------------------

void Serving::begin(const Mailbox::Letter& letter, const MethodEntry& method) {
  const auto coroutine = std::make_shared<Coroutine>(*this, letter);
  {
    const std::lock_guard lock(mutex_);
    coroutine->place = coroutines_.emplace(Key{letter.from.get(), letter.header.sequence}, coroutine);
  }
  coroutine->call.begin(letter.header.method);
  RunningCall::current() = &coroutine->call;
  coroutine->is_starting = true;
  try {
    Decoder from(letter.arguments.view(), actor_.context);
    coroutine->task = method.begin(actor_.object.get(), from);
    coroutine->task->start(
        [](void* argument) {
          auto& ended = *static_cast<Coroutine*>(argument);
          ended.has_ended = true;
          if (!ended.is_starting) ended.serving.mailbox_.post(ended);  // its frame is still in use
        },
        coroutine.get());
  } catch (...) {  // it didn't begin
    answer(letter, threw(), /*may_wait=*/true);
    forget(*coroutine);
  }
  coroutine->is_starting = false;
  RunningCall::current() = nullptr;
  if (coroutine->has_ended) finish(*coroutine);
}

void Serving::forget(Coroutine& coroutine) {
  std::shared_ptr<Coroutine> last;
  const std::lock_guard lock(mutex_);
  last = std::move(coroutine.place->second);
  coroutines_.erase(coroutine.place);
}

void Serving::finish(Coroutine& coroutine) {
  Answer result;
  try {
    coroutine.task->result(result.body);
  } catch (const Exception& e) {
    result = threw();
    if (e.code() == Code::Cancelled && coroutine.call.is_cancelled())
      result = {.outcome = wire::Outcome::Cancelled, .body = {}};
  } catch (...) {
    result = threw();
  }
  answer(coroutine.letter, result, /*may_wait=*/true);
  forget(coroutine);
}

// On whichever thread reads: what a coroutine waits for is ended on its own.
void Serving::cancel(Key call) {
  struct Reach : Executor::Job {
    explicit Reach(std::shared_ptr<Coroutine> one) : coroutine(std::move(one)) {
      run = [](Executor::Job& job) {
        const std::unique_ptr<Reach> self(&static_cast<Reach&>(job));
        if (self->coroutine->call.waits_for) self->coroutine->call.waits_for->cancel();
      };
    }
    const std::shared_ptr<Coroutine> coroutine;
  };
  if (first_.cancel(call.first, call.second)) return;
  std::shared_ptr<Coroutine> coroutine;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, group] : groups_) {
      if (const auto letter = group->take_out(call.first, call.second)) {
        mailbox_.picked_up(*letter);
        return answer(*letter, {.outcome = wire::Outcome::Cancelled, .body = {}}, /*may_wait=*/false);
      }
      if (group->cancel(call.first, call.second)) return;
    }
    const auto it = coroutines_.find(call);
    if (it != coroutines_.end()) coroutine = it->second;
  }
  if (!coroutine) return;
  coroutine->call.cancel();
  mailbox_.post(*std::make_unique<Reach>(coroutine).release());
}

// A caller that reads too slowly holds the actor back; one that is gone wants no answer.
void Serving::answer(const Mailbox::Letter& letter, const Answer& answer, bool may_wait) {
  if (letter.header.sequence == 0) return;
  Status sent = reply(letter, answer.outcome, answer.body.bytes(), mailbox_.actor());
  if (!sent && sent.error().code == Code::Invalid) {  // too long a result
    Encoder body;
    Thrown thrown = actor_.place;
    thrown.type = "rt::Exception";
    thrown.text = sent.error().message;
    encode(body, thrown);
    sent = reply(letter, wire::Outcome::Threw, body.bytes(), mailbox_.actor());
  }
  while (may_wait && !sent && sent.error().code == Code::Unavailable) {
    ::poll(nullptr, 0, 10);
    sent = reply(letter, answer.outcome, answer.body.bytes(), mailbox_.actor());
  }
}

}  // namespace rt::detail
