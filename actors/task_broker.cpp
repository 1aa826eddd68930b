#include "rt/actors/task_broker.h"

#include <chrono>

#include "rt/actors/spawner.h"
#include "rt/actors/task_terms.h"
#include "rt/actors/worker_context.h"
#include "rt/runtime/net/ring_poller.h"

namespace rt::detail {

TaskBroker::TaskBroker()
    : client_(*worker_context().client), self_(&client_, worker_context().actor), timer_(client_.poller().io()) {}

Task<TaskGrant> TaskBroker::want(ActorId caller, TaskShape shape) {
  if (caller != 0) watch(caller);
  const std::uint64_t number = ++last_want_;
  const auto waiting = std::make_shared<Waiting>();
  waiting->event = std::make_shared<CallState>(client_.poller());
  waiting_[number] = waiting;
  carry_out(board_.want({number, caller, shape, number_of(caller)}));
  co_await Future<Unit>(waiting->event);
  co_return waiting->grant;
}

void TaskBroker::finished(ActorId worker) { carry_out(board_.finished(number_of(worker))); }
void TaskBroker::waits(ActorId worker) { carry_out(board_.waits(number_of(worker))); }
void TaskBroker::goes_on(ActorId worker) { carry_out(board_.goes_on(number_of(worker))); }
void TaskBroker::leased(std::uint64_t lease, TaskShape shape) { carry_out(board_.leased(lease, shape)); }
void TaskBroker::refused(TaskShape shape, std::uint16_t code, std::string error) {
  carry_out(board_.refused(shape, {static_cast<Code>(code), error}));
}

void TaskBroker::died(ActorId actor) {
  watches_.erase(actor);
  carry_out(board_.caller_died(actor));
  const std::uint64_t number = number_of(actor);
  if (number == 0) return;
  workers_.erase(actor);
  actors_.erase(number);
  carry_out(board_.died(number));
}

void TaskBroker::tick() {
  is_ticking_ = false;
  carry_out(board_.tick());
}

std::uint64_t TaskBroker::number_of(ActorId worker) const {
  const auto it = workers_.find(worker);
  return it == workers_.end() ? 0 : it->second;
}

void TaskBroker::watch(ActorId actor) {
  if (watches_.contains(actor)) return;
  watches_.emplace(actor, rt::watch(Actor<TaskWorker>(&client_, actor), [self = self_, actor](const ActorDeath& death) {
                     if (!death.will_restart) (void)self.send<&TaskBroker::died>(actor);
                   }));
}

void TaskBroker::carry_out(const TaskBoard::Commands& commands) {
  for (const auto& one : commands.start) start(one);
  const auto answer = [&](std::uint64_t want, TaskGrant grant) {
    const auto it = waiting_.find(want);
    it->second->grant = std::move(grant);
    it->second->event->complete("");
    waiting_.erase(it);
  };
  for (const auto& grant : commands.grants) answer(grant.want, {.worker = actors_.at(grant.worker)});
  for (const auto& [want, error] : commands.refusals)
    answer(want, {.code = static_cast<std::uint16_t>(error.code), .error = error.message});
  for (const TaskShape& shape : commands.ask) ask(shape);
  for (const std::uint64_t number : commands.end) end(number);
  for (const std::uint64_t lease : commands.release) client_.release(lease);
  constexpr std::chrono::milliseconds kIdle{250};
  if (is_ticking_ || !board_.is_anything_idle()) return;
  is_ticking_ = true;
  if (client_.poller().takes_turns()) return (void)self_.send<&TaskBroker::tick>();  // nothing goes by the clock
  timer_.expires_after(kIdle);
  timer_.async_wait([self = self_](const boost::system::error_code& error) {
    if (!error) (void)self.send<&TaskBroker::tick>();
  });
}

void TaskBroker::start(const TaskBoard::Start& start) {
  using Made = Constructor<TaskWorker, Actor<TaskBroker>>;
  (void)Made::registered;
  Encoder arguments;
  encode(arguments, std::tuple(self_));
  const WorkerContext& own = worker_context();
  const ActorId actor = client_.spawn({.class_name = std::string(Made::name),
                                       .arguments = arguments.take(),
                                       .program = own.program.path,
                                       .program_hash = own.program.hash,
                                       .directory = "",
                                       .lease = start.lease,
                                       .threads = 1});
  (void)client_.totals();  // when that is answered the head knows the worker: callers ask it for its address
  actors_[start.worker] = actor;
  workers_[actor] = start.worker;
  watch(actor);
}

void TaskBroker::ask(TaskShape shape) {
  (void)client_.lease({.size = 1, .cpus = shape.cpus, .gpus = shape.gpus}, "tasks",
                      [self = self_, shape](Result<Lease> lease) {
                        if (lease)
                          (void)self.send<&TaskBroker::leased>(lease->id, shape);
                        else
                          (void)self.send<&TaskBroker::refused>(shape, static_cast<std::uint16_t>(lease.error().code),
                                                                lease.error().message);
                      });
}

void TaskBroker::end(std::uint64_t number) {
  const auto it = actors_.find(number);
  if (it != actors_.end()) client_.kill(it->second, std::chrono::milliseconds(0));
}

// --- the worker -----------------------------------------------------------------------------------------------------

TaskWorker::TaskWorker(Actor<TaskBroker> broker) : broker_(broker) {
  broker_.client().tasks().use_broker(broker_.id());
  of_process().store(this, std::memory_order_release);
}
TaskWorker::~TaskWorker() { of_process().store(nullptr, std::memory_order_release); }

void TaskWorker::begins() { (void)broker_.send<&TaskBroker::waits>(worker_context().actor); }
void TaskWorker::ends() { (void)broker_.send<&TaskBroker::goes_on>(worker_context().actor); }

}  // namespace rt::detail
