#pragma once
// Tasks: functions that run once, on any free worker process, as many at once as there are slots.
//
//   double area(Polygon polygon);
//   rt::Future<double> later = cluster.run<&area>(polygon);
//   rt::Future<double> other = cluster.tasks({.retries = 3, .cpus = 2}).run<&area>(polygon);
//
// An argument may be a Ref, or the Future of another task: the task begins when that is there, and fails with it. A
// task may run tasks itself (rt::self().run) and wait for them: its slot is lent to others meanwhile. Worker processes
// are started when they are wanted, used again, and ended when they have been idle for half a second.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include "rt/actors/future.h"
#include "rt/actors/method_table.h"
#include "rt/actors/ref.h"
#include "rt/actors/task_terms.h"

namespace rt {

// Trivially destructible members only, as in SpawnOptions.
struct TaskOptions {
  int retries = -1;                      // after the death of its process; -1: 3 where is_idempotent<&function>, else 0
  std::chrono::nanoseconds deadline{0};  // from now to its end; 0: none
  std::uint32_t cpus = 1, gpus = 0;      // what it holds while it runs
};

namespace detail {

template <class F>
struct TaskTraits {
  static_assert(!std::is_same_v<F, F>,
                "run<...> wants a free function or a static member function, as in cluster.run<&area>(polygon)");
};
template <class R, class... P>
struct TaskTraits<R (*)(P...)> {
  using Result = typename ResultOf<R>::type;
  using Arguments = std::tuple<Kept<P>...>;
  static constexpr bool returns_void = std::is_void_v<R>;
  static_assert(!is_task<R>, "a task is an ordinary function; a coroutine is a method of an actor");
  static_assert((takes_a_value<P> && ...),
                "a task takes copies of its arguments: a value, a const reference or a std::span<const T>, not a "
                "pointer or reference to its caller's object");
};
template <class R, class... P>
struct TaskTraits<R (*)(P...) noexcept> : TaskTraits<R (*)(P...)> {};

template <auto F>
struct TaskFunction {
  using Traits = TaskTraits<decltype(F)>;
  static constexpr std::string_view text = method_name<F>();
  static_assert(!is_anonymous(text),
                "a task's function may not be in an anonymous namespace: two files could have one of the same name");

  static void invoke(void*, Decoder& from, Encoder& to) {
    auto arguments = decode_all<typename Traits::Arguments>(from);
    const auto call = [](auto&... values) { return F(std::move(values)...); };
    if constexpr (Traits::returns_void)
      std::apply(call, arguments);
    else
      encode<typename Traits::Result>(to, std::apply(call, arguments));
  }
  static wire::MethodName enter() {
    const wire::MethodName entered{text, wire::method_hash(typeid(TaskFunction).name())};
    register_function(entered, &invoke);
    return entered;
  }
  static inline const wire::MethodName name = enter();
};

template <class A>
inline constexpr bool is_future = is_a<std::remove_cvref_t<A>, Future>;

// A future's value as the argument that it becomes: what lies in the store isn't copied.
template <class K, class X>
void encode_result(Encoder& to, const std::shared_ptr<CallState>& state) {
  if constexpr (SeenAs<X>::is_elements && !is_ref<K>)
    Future<typename SeenAs<X>::type>(state).get().rt_encode(to);
  else
    encode_argument<K>(to, Future<X>(state).get());
}

template <class K, class A>
constexpr bool can_be_task_argument() {
  if constexpr (is_future<A>) {
    using X = typename std::remove_cvref_t<A>::Value;
    if constexpr (SeenAs<X>::is_elements && !is_ref<K>)
      return std::is_same_v<K, X> || std::is_same_v<K, typename SeenAs<X>::type>;
    else
      return can_be_passed<K, X>();
  } else {
    return can_be_passed<K, A>();
  }
}

template <class K, class A>
void encode_held(Encoder& to, A& held) {
  if constexpr (is_future<A>)
    encode_result<K, typename A::Value>(to, held.state());
  else
    encode_argument<K>(to, held);
}

}  // namespace detail

// Runs functions as tasks, in one way. A value; it refers to the Cluster or actor it came from.
class TaskRunner {
 public:
  TaskRunner(detail::Client& client, const JobProgram& program, const TaskOptions& options)
      : client_(client), program_(program), options_(options) {}

  template <auto F, class... Args>
  auto run(Args&&... args) const {
    using Function = detail::TaskFunction<F>;
    using Kept = typename Function::Traits::Arguments;
    static_assert(sizeof...(Args) == std::tuple_size_v<Kept>, "the function takes another number of arguments");
    check<Kept, Args...>(std::index_sequence_for<Args...>{});
    const detail::TaskTerms terms{{options_.cpus, options_.gpus},
                                  options_.retries >= 0 ? options_.retries : (is_idempotent<F> ? 3 : 0),
                                  options_.deadline};
    using Result = Future<typename Function::Traits::Result>;
    if constexpr (!(detail::is_future<Args> || ...)) {
      const auto write = [&](Encoder& to) { detail::encode_arguments<Kept>(to, std::forward<Args>(args)...); };
      return Result(client_.tasks().run(Function::name, std::cref(write), {}, terms, program_));
    } else {
      std::vector<std::shared_ptr<detail::CallState>> needs;
      (add_need(needs, args), ...);
      auto held = std::make_shared<std::tuple<std::decay_t<Args>...>>(std::forward<Args>(args)...);
      return Result(client_.tasks().run(
          Function::name, [held](Encoder& to) { encode_all<Kept>(to, *held, std::index_sequence_for<Args...>{}); },
          needs, terms, program_));
    }
  }

 private:
  template <class Kept, class... Args, std::size_t... I>
  static void check(std::index_sequence<I...>) {
    static_assert((detail::can_be_task_argument<std::tuple_element_t<I, Kept>, Args>() && ...),
                  "an argument doesn't convert to what the function takes");
  }
  template <class A>
  static void add_need(std::vector<std::shared_ptr<detail::CallState>>& needs, const A& given) {
    if constexpr (detail::is_future<A>) needs.push_back(given.state());
  }
  template <class Kept, class Held, std::size_t... I>
  static void encode_all(Encoder& to, Held& held, std::index_sequence<I...>) {
    (detail::encode_held<std::tuple_element_t<I, Kept>>(to, std::get<I>(held)), ...);
  }

  detail::Client& client_;
  const JobProgram& program_;
  TaskOptions options_;
};

}  // namespace rt
