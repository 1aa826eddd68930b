#include "rt/actors/serving.h"

#include <poll.h>

#include <chrono>
#include <ctime>

namespace rt::detail {
namespace {

std::int64_t monotonic_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status reply(const Mailbox& mailbox, const Mailbox::Letter& letter, wire::Outcome outcome, const Encoder& body) {
  wire::CallHeader header = letter.header;
  header.outcome = outcome;
  if (!body.attachments().empty())
    return mailbox.store().send(*letter.from, FrameType::Reply, mailbox.actor(), header, body.bytes(),
                                body.attachments());
  return letter.from->send(FrameType::Reply, mailbox.actor(), {reinterpret_cast<const char*>(&header), sizeof header},
                           body.bytes());
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

void Serving::open(AnyObject object, void* context, Thrown place) {
  const std::lock_guard lock(mutex_);
  object_ = std::move(object);
  context_ = context;
  place_ = std::move(place);
}

void Serving::close() {
  const std::lock_guard lock(mutex_);
  object_ = nullptr;
}

bool Serving::take_urgent(const Mailbox::Letter& letter) {
  const MethodEntry method = find_method(letter.header.method);
  if (!method.urgent) return false;
  {
    const std::lock_guard lock(mutex_);
    if (!object_) return false;
  }
  answer(letter, run_method(letter, method), /*may_wait=*/false);  // it may not block the thread that empties queues
  return true;
}

void Serving::serve() {
  Executor::current() = &mailbox_;
  while (true) run(mailbox_.take());
}

void Serving::run(const Mailbox::Letter& letter) {
  if (letter.header.deadline_ns != 0 && monotonic_now() > letter.header.deadline_ns) {
    Answer expired{.outcome = wire::Outcome::Expired, .body = {}};
    return answer(letter, expired, /*may_wait=*/true);
  }
  const MethodEntry method = find_method(letter.header.method);
  if (method.begin) return begin(letter, method);
  running_for_.store(letter.from.get(), std::memory_order_relaxed);
  running_sequence_.store(letter.header.sequence, std::memory_order_release);
  RunningCall::current() = &running_;
  const Answer result = run_method(letter, method);
  RunningCall::current() = nullptr;
  running_sequence_.store(0, std::memory_order_seq_cst);
  if (is_cancelling_.load(std::memory_order_seq_cst)) const std::lock_guard wait_for_it(mutex_);
  running_.reset();
  answer(letter, result, /*may_wait=*/true);
}

Serving::Answer Serving::run_method(const Mailbox::Letter& letter, const MethodEntry& method) {
  Answer result{.body = Encoder(mailbox_.store().store())};
  if (!method.invoke) {
    result.outcome = wire::Outcome::UnknownMethod;
    return result;
  }
  try {
    Decoder from(letter.arguments.view(), context_, &letter.objects);
    method.invoke(object_.get(), from, result.body);
    return result;
  } catch (...) {
    return threw();
  }
}

Serving::Answer Serving::threw() const {
  Answer answer{.outcome = wire::Outcome::Threw, .body = {}};
  encode(answer.body, thrown_here(std::current_exception(), place_));
  return answer;
}

// --- coroutines -----------------------------------------------------------------------------------------------------

void Serving::begin(const Mailbox::Letter& letter, const MethodEntry& method) {
  const auto coroutine = std::make_shared<Coroutine>(*this, letter);
  {
    const std::lock_guard lock(mutex_);
    coroutine->place = coroutines_.emplace(Key{letter.from.get(), letter.header.sequence}, coroutine);
  }
  RunningCall::current() = &coroutine->call;
  coroutine->is_starting = true;
  try {
    Decoder from(letter.arguments.view(), context_, &letter.objects);
    coroutine->task = method.begin(object_.get(), from);
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
  Answer result{.body = Encoder(mailbox_.store().store())};
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
  std::shared_ptr<Coroutine> coroutine;
  {
    is_cancelling_.store(true, std::memory_order_seq_cst);
    const std::lock_guard lock(mutex_);
    if (running_sequence_.load(std::memory_order_seq_cst) == call.second && running_for_.load() == call.first)
      running_.cancel();
    is_cancelling_.store(false, std::memory_order_seq_cst);
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
  Status sent = reply(mailbox_, letter, answer.outcome, answer.body);
  if (!sent && (sent.error().code == Code::Invalid || sent.error().code == Code::Lost)) {  // too long a result
    Encoder body;
    Thrown thrown = place_;
    thrown.type = "rt::Exception";
    thrown.text = sent.error().message;
    encode(body, thrown);
    sent = reply(mailbox_, letter, wire::Outcome::Threw, body);
  }
  while (may_wait && !sent && sent.error().code == Code::Unavailable) {
    ::poll(nullptr, 0, 10);
    sent = reply(mailbox_, letter, answer.outcome, answer.body);
  }
}

}  // namespace rt::detail
