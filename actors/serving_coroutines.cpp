// Methods that are coroutines: they give way while they wait, and the streams among them yield.
#include <algorithm>

#include "rt/actors/serving.h"

namespace rt::detail {

// On the actor's first thread, but for what a cancellation or a grant does to find it.
struct Serving::Coroutine : Executor::Job, StreamOutlet, Cancellable {
  Coroutine(Serving& of, const Mailbox::Letter& from) : serving(of), letter{from.from, from.header, Bytes()} {
    run = [](Executor::Job& job) {
      auto& ended = static_cast<Coroutine&>(job);
      ended.serving.finish(ended);
    };
  }

  // --- of a stream
  bool is_one_way() const { return letter.header.sequence == 0; }
  void put(std::string_view item) override {
    if (is_one_way()) return;
    --granted;
    const Status sent = serving.say(letter, wire::Outcome::Item, item, /*may_wait=*/true);
    if (sent) return;
    if (sent.error().code != Code::NotSent) throw Exception(sent.error());
    call.cancel();  // its reader has gone
  }
  bool may_put() const override { return is_one_way() || granted > 0; }
  void wait(std::coroutine_handle<> handle) override {
    waiting = handle;
    call.waits_for = this;
  }
  void check() const override {
    if (call.is_cancelled()) throw Exception({Code::Cancelled, "nobody reads the stream any more"});
  }
  void grant(std::uint64_t items) {
    granted = std::min(granted + items, kMostGranted);
    if (waiting && may_put()) resume();
  }
  void cancel() override { resume(); }
  void probe(const Probe&) override {}  // it waits for its reader
  void resume() {
    call.waits_for = nullptr;
    RunningCall* const before = std::exchange(RunningCall::current(), &call);
    std::exchange(waiting, nullptr).resume();
    RunningCall::current() = before;
  }

  static constexpr std::uint64_t kMostGranted = 1u << 30;  // whatever the reader says
  Serving& serving;
  const Mailbox::Letter letter;  // without its arguments
  RunningCall call;
  std::unique_ptr<RunningTask> task;
  Coroutines::iterator place;
  bool is_starting = false, has_ended = false, is_stream = false;
  std::uint64_t granted = kStreamWindow;
  std::coroutine_handle<> waiting;  // of one that yielded all that was granted
};

const RunningCall& Serving::call_of(const Coroutine& coroutine) { return coroutine.call; }

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
    Decoder from(letter.arguments.view(), actor_.context, &letter.objects);
    coroutine->task = method.begin(actor_.object.get(), from);
    coroutine->is_stream = coroutine->task->attach(*coroutine);
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

// On whichever thread reads: something is done to a coroutine on its own.
void Serving::reach(const std::shared_ptr<Coroutine>& coroutine, std::uint64_t items) {
  struct Reach : Executor::Job {
    Reach(std::shared_ptr<Coroutine> one, std::uint64_t granted) : coroutine(std::move(one)), items(granted) {
      run = [](Executor::Job& job) {
        const std::unique_ptr<Reach> self(&static_cast<Reach&>(job));
        if (self->items > 0)
          self->coroutine->grant(self->items);
        else if (Cancellable* const what = self->coroutine->call.waits_for)
          what->cancel();
      };
    }
    const std::shared_ptr<Coroutine> coroutine;
    const std::uint64_t items;
  };
  if (items == 0) coroutine->call.cancel();
  mailbox_.post(*std::make_unique<Reach>(coroutine, items).release());
}

void Serving::cancel(Key call) {
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
    coroutine = find(call);
  }
  if (coroutine) reach(coroutine, 0);
}

void Serving::grant(Key call, std::uint64_t items) {
  std::shared_ptr<Coroutine> coroutine;
  {
    const std::lock_guard lock(mutex_);
    coroutine = find(call);
  }
  if (coroutine && items > 0) reach(coroutine, items);
}

void Serving::end_streams(const Transport* reader) {
  std::vector<std::shared_ptr<Coroutine>> streams;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = coroutines_.lower_bound({reader, 0}); it != coroutines_.end() && it->first.first == reader; ++it)
      if (it->second && it->second->is_stream) streams.push_back(it->second);
  }
  for (const auto& stream : streams) reach(stream, 0);
}

// Somebody waits for this call. It waits in turn for what the first thread waits for, unless another may run it; and
// where it is a coroutine, for what that awaits. On whichever thread reads.
void Serving::send_on(Key call, std::string_view bytes) {
  struct Ahead : Executor::Job {
    std::shared_ptr<Coroutine> coroutine;
    Probe probe;
  };
  Probe probe;
  try {
    Decoder from(bytes);
    probe = decode<Probe>(from);
  } catch (const Exception&) {
    return;
  }
  std::shared_ptr<Coroutine> coroutine;
  {
    const std::lock_guard lock(mutex_);
    coroutine = find(call);
    if (groups_.empty() || coroutine || first_.runs(call.first, call.second)) first_.waits().send_on(probe);
  }
  if (!coroutine) return;
  probe.hops.push_back({0, actor_.place.actor, ""});
  auto ahead = std::make_unique<Ahead>();
  ahead->coroutine = std::move(coroutine);
  ahead->probe = std::move(probe);
  ahead->run = [](Executor::Job& job) {
    const std::unique_ptr<Ahead> self(&static_cast<Ahead&>(job));
    if (Cancellable* const what = self->coroutine->call.waits_for) what->probe(self->probe);
  };
  mailbox_.post(*ahead.release());
}

// Under the lock.
std::shared_ptr<Serving::Coroutine> Serving::find(Key call) const {
  const auto it = coroutines_.find(call);
  return it == coroutines_.end() ? nullptr : it->second;
}

}  // namespace rt::detail
