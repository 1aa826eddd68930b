#pragma once
// The method table: what a worker can construct and call, by name. Filled before main by the templates that a driver
// instantiates (the worker runs the same program, so it has what the driver names); constant afterwards.

#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "rt/actors/arguments.h"
#include "rt/actors/task.h"
#include "rt/runtime/wire/call.h"
#include "rt/runtime/wire/codec.h"

namespace rt::detail {

using AnyObject = std::shared_ptr<void>;
using Construct = AnyObject (*)(Decoder& arguments);
using Invoke = void (*)(void* object, Decoder& arguments, Encoder& result);

// A coroutine method under way, with its arguments.
class RunningTask {
 public:
  virtual ~RunningTask() = default;
  virtual void start(void (*on_done)(void*), void* argument) = 0;
  virtual void result(Encoder& to) = 0;  // throws what the coroutine threw
};
using Begin = std::unique_ptr<RunningTask> (*)(void* object, Decoder& arguments);

bool register_class(std::string_view name, Construct construct);
bool register_method(wire::MethodName name, Invoke invoke);
bool register_function(wire::MethodName name, Invoke invoke);  // of a task
bool register_coroutine(wire::MethodName name, Begin begin);

Construct find_class(std::string_view name);  // null where this program has none

struct MethodEntry {
  Invoke invoke = nullptr;  // one of the two; both null where this program has no such method
  Begin begin = nullptr;
  bool urgent = false;
};
MethodEntry find_method(std::uint64_t hash);

// The compiler's own spelling of a type or member pointer.
template <class T>
constexpr std::string_view type_name() {
  constexpr std::string_view whole = __PRETTY_FUNCTION__;
  constexpr auto begin = whole.find("T = ") + 4;
  return whole.substr(begin, whole.rfind("; ") - begin);
}
template <auto M>
constexpr std::string_view method_name() {
  constexpr std::string_view whole = __PRETTY_FUNCTION__;
  constexpr auto begin = whole.find("M = ") + 4;
  return whole.substr(begin, whole.rfind("; ") - begin);
}
constexpr bool is_anonymous(std::string_view name) { return name.find("{anonymous}") != std::string_view::npos; }

template <class T>
T decode_all(Decoder& from) {
  T value = decode<T>(from);
  if (from.left() != 0) Decoder::corrupt();
  return value;
}

template <class P>
inline constexpr bool takes_a_value =
    !std::is_pointer_v<std::remove_cvref_t<P>> &&
    !(std::is_reference_v<P> && is_view<Kept<P>> &&
      !is_view<std::decay_t<P>>)&&(!std::is_lvalue_reference_v<P> || std::is_const_v<std::remove_reference_t<P>>);

template <class M>
struct MemberTraits {
  static_assert(!std::is_same_v<M, M>, "call<...> wants a member function, as in call<&Counter::add>(5)");
};
#define RT_MEMBER_TRAITS(qualifier)                                                                                  \
  template <class R, class C, class... P>                                                                            \
  struct MemberTraits<R (C::*)(P...) qualifier> {                                                                    \
    using Returned = R;                                                                                              \
    using Result = typename ResultOf<R>::type;                                                                       \
    using Class = C;                                                                                                 \
    using Arguments = std::tuple<Kept<P>...>;                                                                        \
    static constexpr bool returns_void = std::is_void_v<R>;                                                          \
    static_assert((takes_a_value<P> && ...),                                                                         \
                  "an actor's method takes copies of its arguments: a value or a const reference, not a pointer or " \
                  "reference to its caller's object");                                                               \
  };
RT_MEMBER_TRAITS()
RT_MEMBER_TRAITS(const)
RT_MEMBER_TRAITS(noexcept)
RT_MEMBER_TRAITS(const noexcept)
#undef RT_MEMBER_TRAITS

// Arguments as a method takes them, and its object's call with them.
template <auto M>
auto apply_method(void* object, typename MemberTraits<decltype(M)>::Arguments& arguments) {
  using Class = typename MemberTraits<decltype(M)>::Class;
  return std::apply(
      [&](auto&... values) ->
      typename MemberTraits<decltype(M)>::Returned { return (static_cast<Class*>(object)->*M)(std::move(values)...); },
      arguments);
}

template <auto M>
class RunningTaskOf final : public RunningTask {
  using Traits = MemberTraits<decltype(M)>;

 public:
  RunningTaskOf(void* object, Decoder& from)
      : arguments_(decode_all<typename Traits::Arguments>(from)), task_(apply_method<M>(object, arguments_)) {}
  void start(void (*on_done)(void*), void* argument) override { task_.start(on_done, argument); }
  void result(Encoder& to) override {
    if constexpr (std::is_same_v<typename Traits::Returned, Task<void>>)
      task_.take();
    else
      encode<typename Traits::Result>(to, task_.take());
  }

 private:
  typename Traits::Arguments arguments_;  // what the coroutine took by reference
  typename Traits::Returned task_;
};

}  // namespace rt::detail

namespace rt {

// Methods that may run twice: where the actor dies under a call and is restarted, the call is sent again.
//   template <> inline constexpr bool rt::is_idempotent<&Counter::value> = true;
template <auto M>
inline constexpr bool is_idempotent = false;

}  // namespace rt

namespace rt::detail {

template <auto M>
struct Method {
  using Traits = MemberTraits<decltype(M)>;
  static constexpr wire::MethodName make_name() {
    wire::MethodName name = method_name<M>();
    name.is_idempotent = is_idempotent<M>;
    return name;
  }
  static constexpr wire::MethodName name = make_name();
  static_assert(!is_anonymous(name.text),
                "an actor's class may not be in an anonymous namespace: two files could have one of the same name");

  static void invoke(void* object, Decoder& from, Encoder& to) {
    auto arguments = decode_all<typename Traits::Arguments>(from);
    if constexpr (Traits::returns_void)
      apply_method<M>(object, arguments);
    else
      encode<typename Traits::Result>(to, apply_method<M>(object, arguments));
  }
  static bool enter() {
    if constexpr (is_task<typename Traits::Returned>)
      return register_coroutine(name, [](void* object, Decoder& from) -> std::unique_ptr<RunningTask> {
        return std::make_unique<RunningTaskOf<M>>(object, from);
      });
    else
      return register_method(name, &invoke);
  }
  static inline const bool registered = enter();
};

template <class A>
struct SentAs {
  using type = A;
};
template <class T>
struct SentAs<std::span<T>> {
  using type = View<std::remove_const_t<T>>;
};

// Arguments travel as values; a string literal as std::string.
template <class A>
using Sent = std::conditional_t<std::is_convertible_v<std::decay_t<A>, std::string_view> &&
                                    !std::is_same_v<std::decay_t<A>, std::string>,
                                std::string, typename SentAs<std::decay_t<A>>::type>;

template <class T, class... Args>
struct Constructor {
  static constexpr std::string_view name = type_name<std::tuple<T, Args...>>();
  static_assert(!is_anonymous(name),
                "an actor's class may not be in an anonymous namespace: two files could have one of the same name");
  static_assert(std::is_constructible_v<T, Args...>, "no constructor of the actor's class takes these arguments");

  static AnyObject construct(Decoder& from) {
    auto arguments = decode_all<std::tuple<Args...>>(from);
    return std::apply([](auto&&... values) { return std::make_shared<T>(std::forward<decltype(values)>(values)...); },
                      std::move(arguments));
  }
  static inline const bool registered = register_class(name, &construct);
};

}  // namespace rt::detail
