#include "rt/actors/task_pool.h"

#include <algorithm>

#include "rt/actors/program_copy.h"
#include "rt/actors/task_broker.h"
#include "rt/actors/worker_context.h"
#include "rt/runtime/net/ring_poller.h"

namespace rt::detail {

struct TaskPool::Item {
  wire::MethodName function;
  TaskTerms terms;
  std::shared_ptr<CallState> future;
  std::string arguments;
  Attachments objects;
  std::shared_ptr<CallState> call;  // where it is under way
  int attempts = 0;
  TimePoint deadline = TimePoint::max();
  std::unique_ptr<boost::asio::steady_timer> timer;  // of the deadline
};

// The three things that a task waits for. Each listens once, and is its own owner meanwhile.
struct TaskPool::Grant : CallState::Listener {
  TaskPool* pool;
  TaskShape shape;
  std::shared_ptr<CallState> state;
};
struct TaskPool::Done : CallState::Listener {
  TaskPool* pool;
  ItemPtr item;
  ActorId worker;
  TimePoint since;
  std::shared_ptr<CallState> state;
};
struct TaskPool::Needs {
  std::atomic<std::size_t> left;
  std::function<void()> then;
  struct One : CallState::Listener {
    std::shared_ptr<Needs> of;
    RingPoller* poller;
  };
  void count() {
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) then();
  }
};

namespace {

// `listener` is deleted by `fire`, which may run at once. The rings are read until then, also where nobody waits.
template <class Listener>
void await(CallState& state, std::unique_ptr<Listener> listener, void (*fire)(CallState::Listener&)) {
  state.poller().attend();
  listener->fire = fire;
  if (state.listen(*listener)) return (void)listener.release();
  fire(*listener.release());
}

}  // namespace

std::shared_ptr<CallState> TaskPool::run(const wire::MethodName& function, Write write,
                                         const std::vector<std::shared_ptr<CallState>>& needs, const TaskTerms& terms,
                                         const JobProgram& program) {
  const auto item = std::make_shared<Item>(Item{.function = function, .terms = terms});
  item->future = std::make_shared<CallState>(client_.poller(), &client_, this);
  (void)broker(program);
  if (terms.deadline.count() > 0) {
    item->deadline = SystemClock().now() + terms.deadline;
    item->timer = std::make_unique<boost::asio::steady_timer>(client_.poller().io(), item->deadline);
    item->timer->async_wait([this, future = std::weak_ptr(item->future)](const boost::system::error_code& error) {
      const auto state = future.lock();
      if (error || !state || state->is_complete()) return;
      state->fail({Code::Deadline, "the task's deadline has passed"});
      cancel(*state);
    });
  }
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) {
      item->future->fail({Code::Unavailable, "this process has left the cluster"});
      return item->future;
    }
    items_[item->future.get()] = item;
  }
  if (needs.empty()) {
    make_ready(item, write);
    return item->future;
  }
  const auto all = std::make_shared<Needs>();
  all->left = needs.size();
  all->then = [this, item, write = std::move(write)] { make_ready(item, write); };
  for (const auto& need : needs) {
    auto one = std::make_unique<Needs::One>();
    one->of = all;
    one->poller = &need->poller();
    await(*need, std::move(one), [](CallState::Listener& self) {
      const std::unique_ptr<Needs::One> own(&static_cast<Needs::One&>(self));
      own->poller->neglect();
      own->of->count();
    });
  }
  return item->future;
}

void TaskPool::make_ready(const ItemPtr& item, const Write& write) {
  Encoder to(client_.large());
  try {
    write(to);
  } catch (const Exception& e) {
    {
      const std::lock_guard lock(mutex_);
      items_.erase(item->future.get());
    }
    return item->future->fail({e.code(), "a task's argument failed: " + e.error().message});
  }
  item->objects = to.attachments();
  item->arguments = to.take();
  put_in(item, /*is_first=*/false);
  want_more(item->terms.shape);
}

void TaskPool::put_in(const ItemPtr& item, bool is_first) {
  const std::lock_guard lock(mutex_);
  if (!items_.contains(item->future.get())) return;  // it was cancelled
  auto& waiting = queues_[item->terms.shape].waiting;
  is_first ? waiting.push_front(item) : waiting.push_back(item);
}

// --- the broker -----------------------------------------------------------------------------------------------------

// The cluster's one for this program; who asks first makes it.
ActorId TaskPool::broker(const JobProgram& program) {
  {
    const std::lock_guard lock(mutex_);
    if (broker_ != 0) return broker_;
  }
  if (client_.poller().io().get_executor().running_in_this_thread())
    throw Exception({Code::Invalid,
                     "the first task of a process can't be run from a continuation (then): it would wait on the thread "
                     "that is to bring the answer; run one before"});
  const std::string name = "broker of " + program.hash.substr(0, 16), name_space = "rt.tasks";
  auto found = client_.lookup(name, name_space);
  if (!found) {
    using Made = Constructor<TaskBroker>;
    (void)Made::registered;
    Encoder arguments;
    encode(arguments, std::tuple<>());
    const ActorId made = client_.spawn({.class_name = std::string(Made::name),
                                        .arguments = arguments.take(),
                                        .program = program.path,
                                        .program_hash = program.hash,
                                        .name = name,
                                        .name_space = name_space,
                                        .detached = true,
                                        .threads = 1,
                                        .restarts = {.most = 1000, .window = std::chrono::minutes(1)}});
    found = client_.lookup(name, name_space);  // another process may have been first
    if (!found) found = made;
  }
  use_broker(*found);
  return *found;
}

void TaskPool::use_broker(ActorId broker) {
  const std::lock_guard lock(mutex_);
  caller_ = worker_context().actor;
  broker_ = broker;
}

void TaskPool::want_more(TaskShape shape) {
  int more = 0;
  ActorId broker = 0, caller = 0;
  {
    const std::lock_guard lock(mutex_);
    Queue& queue = queues_[shape];
    more = std::min<int>(static_cast<int>(queue.waiting.size()), kMostWanted) - queue.wanted;
    if (is_closed_ || more <= 0) return;
    queue.wanted += more;
    broker = broker_;
    caller = caller_;
  }
  for (; more > 0; --more) {
    auto grant = std::make_unique<Grant>();
    grant->pool = this;
    grant->shape = shape;
    grant->state = Actor<TaskBroker>(&client_, broker).call<&TaskBroker::want>(caller, shape).state();
    CallState& state = *grant->state;
    await(state, std::move(grant), [](CallState::Listener& self) {
      const std::unique_ptr<Grant> own(&static_cast<Grant&>(self));
      own->state->poller().neglect();
      own->pool->on_grant(own->shape, *own->state);
    });
  }
}

void TaskPool::on_grant(TaskShape shape, CallState& state) {
  std::optional<Error> error;
  TaskGrant grant;
  if (state.has_failed()) {
    error = state.error();
  } else {
    Decoder from(state.bytes());
    grant = decode<TaskGrant>(from);
    if (grant.worker == 0) error = Error{static_cast<Code>(grant.code), grant.error};
  }
  std::deque<ItemPtr> lost;
  {
    const std::lock_guard lock(mutex_);
    Queue& queue = queues_[shape];
    --queue.wanted;
    if (error && error->code != Code::MaybeRan) {  // a broker that died is started again
      lost = std::exchange(queue.waiting, {});
      for (const ItemPtr& item : lost) items_.erase(item->future.get());
    }
  }
  for (const ItemPtr& item : lost) item->future->fail(*error);
  if (error) return want_more(shape);
  dispatch(shape, grant.worker, SystemClock().now());
}

void TaskPool::let_go(ActorId worker, bool is_dead) {
  ActorId broker = 0;
  {
    const std::lock_guard lock(mutex_);
    broker = broker_;
  }
  const Actor<TaskBroker> to(&client_, broker);
  (void)(is_dead ? to.send<&TaskBroker::died>(worker) : to.send<&TaskBroker::finished>(worker));
}

// --- tasks under way ------------------------------------------------------------------------------------------------

void TaskPool::dispatch(TaskShape shape, ActorId worker, TimePoint since) {
  ItemPtr item;
  {
    const std::lock_guard lock(mutex_);
    auto& waiting = queues_[shape].waiting;
    if (!waiting.empty() && !is_closed_) {
      item = std::move(waiting.front());
      waiting.pop_front();
    }
  }
  if (!item) return let_go(worker, /*is_dead=*/false);
  CallTerms terms{.objects = &item->objects};
  if (item->deadline != TimePoint::max())
    terms.deadline =
        std::max<std::chrono::nanoseconds>(item->deadline - SystemClock().now(), std::chrono::nanoseconds(1));
  ++item->attempts;
  auto done = std::make_unique<Done>();
  done->pool = this;
  done->item = item;
  done->worker = worker;
  done->since = since;
  done->state = client_.call(worker, item->function, item->arguments, terms);
  bool is_given_up = false;
  {
    const std::lock_guard lock(mutex_);
    item->call = done->state;
    is_given_up = !items_.contains(item->future.get());
  }
  if (is_given_up) done->state->cancel();
  CallState& state = *done->state;
  await(state, std::move(done), [](CallState::Listener& self) {
    const std::unique_ptr<Done> own(&static_cast<Done&>(self));
    own->state->poller().neglect();
    own->pool->on_done(own->item, own->worker, own->since, *own->state);
  });
}

// The process that it ran in died, and it may run again.
bool TaskPool::goes_again(Item& item, const CallState& call) {
  constexpr int kMostNotBegun = 20;
  const std::lock_guard lock(mutex_);
  if (!call.has_failed() || is_closed_ || !items_.contains(item.future.get())) return false;
  if (call.error().code == Code::NotSent) return item.attempts < kMostNotBegun;
  return call.error().code == Code::MaybeRan && item.attempts <= item.terms.retries;
}

void TaskPool::on_done(const ItemPtr& item, ActorId worker, TimePoint since, CallState& call) {
  const bool is_worker_dead =
      call.has_failed() && (call.error().code == Code::NotSent || call.error().code == Code::MaybeRan);
  const TaskShape shape = item->terms.shape;
  if (goes_again(*item, call)) {
    put_in(item, /*is_first=*/true);
    let_go(worker, /*is_dead=*/true);
    return want_more(shape);
  }
  {
    const std::lock_guard lock(mutex_);
    items_.erase(item->future.get());
    item->timer.reset();
  }
  const bool is_its_turn_over = shape.gpus > 0 || client_.poller().takes_turns() || SystemClock().now() - since > kTurn;
  if (is_worker_dead || is_its_turn_over) {
    let_go(worker, is_worker_dead);
    want_more(shape);
  } else {
    dispatch(shape, worker, since);
  }
  if (call.has_failed())
    item->future->fail(call.error(), call.bytes());
  else
    item->future->complete(call.bytes(), call.objects());
}

void TaskPool::cancel(CallState& state) {
  ItemPtr item;
  std::shared_ptr<CallState> call;
  {
    const std::lock_guard lock(mutex_);
    const auto it = items_.find(&state);
    if (it == items_.end()) return;
    item = it->second;
    call = item->call;
    auto& waiting = queues_[item->terms.shape].waiting;
    const auto queued = std::find(waiting.begin(), waiting.end(), item);
    if (queued != waiting.end()) waiting.erase(queued);
    if (!call || queued != waiting.end()) call = nullptr;
    if (!call) items_.erase(it);
  }
  if (call) return call->cancel();
  item->future->fail({Code::Cancelled, "the task was cancelled before it began"});
}

void TaskPool::close() {
  std::map<const CallState*, ItemPtr> left;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_closed_, true)) return;
    left = std::exchange(items_, {});
    for (auto& [shape, queue] : queues_) queue.waiting.clear();
  }
  for (const auto& [state, item] : left)
    item->future->fail({Code::Unavailable, "this process has left the cluster before the task had ended"});
}

}  // namespace rt::detail
