#pragma once
// The method table: what a worker can construct and call, by name. Filled before main by the templates that a driver
// instantiates (the worker runs the same program, so it has what the driver names); constant afterwards.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>

#include "rt/actors/arguments.h"
#include "rt/actors/stream.h"
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
  virtual bool attach(StreamOutlet& outlet) = 0;  // before its start; false: it is no stream
  virtual void start(void (*on_done)(void*), void* argument) = 0;
  virtual void result(Encoder& to) = 0;  // throws what the coroutine threw
};
using Begin = std::unique_ptr<RunningTask> (*)(void* object, Decoder& arguments);

struct ClassEntry {
  Construct construct = nullptr;  // null where this program has no such class
  std::uint64_t of = 0;           // class_hash of its objects; 0: rt's own
};
struct MethodEntry {
  Invoke invoke = nullptr;  // one of the two; both null where this program has no such method
  Begin begin = nullptr;
  bool is_urgent = false;
  bool needs_object = true;     // false: it may run before its actor is there
  bool is_first = false;        // runs on the actor's first thread, whatever threads it has
  std::uint64_t of = 0;         // class_hash of the objects that it takes; 0: rt's own, which takes any
  std::string_view group = {};  // of threads; empty: the actor's own
  std::string_view name = {};   // the method's, for people
};

bool register_class(std::string_view name, ClassEntry entry);
bool register_method(const wire::MethodName& name, MethodEntry entry);
bool register_function(const wire::MethodName& name, Invoke invoke);  // of a task

ClassEntry find_class(std::string_view name);
MethodEntry find_method(std::uint64_t hash);

// Of two classes, and of two methods, also where they are overloads or of one template: unlike as their symbols are.
template <class T>
std::uint64_t class_hash() {
  return wire::method_hash(typeid(std::type_identity<T>).name());
}

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
struct MethodTraits {
  static_assert(
      !std::is_same_v<M, M>,
      "call<...> wants a member function, as in call<&Counter::add>(5), or a function whose first argument is "
      "the actor's object: int add(Counter& counter, int by)");
};
#define RT_METHOD_TRAITS(signature)                                                                                  \
  template <class R, class C, class... P>                                                                            \
  struct MethodTraits<signature> {                                                                                   \
    using Returned = R;                                                                                              \
    using Result = typename ResultOf<R>::type;                                                                       \
    using Class = std::remove_cv_t<C>;                                                                               \
    using Arguments = std::tuple<Kept<P>...>;                                                                        \
    static constexpr bool returns_void = std::is_void_v<R>;                                                          \
    static_assert((takes_a_value<P> && ...),                                                                         \
                  "an actor's method takes copies of its arguments: a value or a const reference, not a pointer or " \
                  "reference to its caller's object");                                                               \
  };
RT_METHOD_TRAITS(R (C::*)(P...))
RT_METHOD_TRAITS(R (C::*)(P...) const)
RT_METHOD_TRAITS(R (C::*)(P...) noexcept)
RT_METHOD_TRAITS(R (C::*)(P...) const noexcept)
RT_METHOD_TRAITS(R (*)(C&, P...))
RT_METHOD_TRAITS(R (*)(C&, P...) noexcept)
#undef RT_METHOD_TRAITS

// Arguments as a method takes them, and the call with them of an object of class T.
template <auto M, class T>
auto apply_method(void* object, typename MethodTraits<decltype(M)>::Arguments& arguments) ->
    typename MethodTraits<decltype(M)>::Returned {
  return std::apply(
      [&](auto&... values) -> typename MethodTraits<decltype(M)>::Returned {
        return std::invoke(M, *static_cast<T*>(object), std::move(values)...);
      },
      arguments);
}

template <auto M, class T>
class RunningTaskOf final : public RunningTask {
  using Traits = MethodTraits<decltype(M)>;

 public:
  RunningTaskOf(void* object, Decoder& from)
      : arguments_(decode_all<typename Traits::Arguments>(from)), task_(apply_method<M, T>(object, arguments_)) {}
  bool attach(StreamOutlet& outlet) override {
    if constexpr (is_stream<typename Traits::Returned>) task_.attach(outlet);
    return is_stream<typename Traits::Returned>;
  }
  void start(void (*on_done)(void*), void* argument) override { task_.start(on_done, argument); }
  void result(Encoder& to) override {
    if constexpr (std::is_same_v<typename Traits::Returned, Task<void>> || is_stream<typename Traits::Returned>)
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
inline constexpr bool is_idempotent = false;  // of no stream: its reader may have had some of it

// The group of threads that runs a method, where the actor was spawned with one of this name (SpawnOptions::groups).
//   template <> inline constexpr std::string_view rt::thread_group<&Cache::load> = "io";
template <auto M>
inline constexpr std::string_view thread_group = {};

// One of several overloads: call<rt::overload<int(double)>(&Counter::add)>(0.5)
template <class Signature, class T>
constexpr auto overload(Signature T::*method) {
  return method;
}

}  // namespace rt

namespace rt::detail {

// A method of M's class, or of a base of it, as objects of class T are called.
template <auto M, class T = typename MethodTraits<decltype(M)>::Class>
struct Method {
  using Traits = MethodTraits<decltype(M)>;
  static constexpr std::string_view text = method_name<M>();
  static_assert(!is_anonymous(text),
                "an actor's class may not be in an anonymous namespace: two files could have one of the same name");
  static_assert(std::is_base_of_v<typename Traits::Class, T>, "the method is of another class than the actor");

  static void invoke(void* object, Decoder& from, Encoder& to) {
    auto arguments = decode_all<typename Traits::Arguments>(from);
    if constexpr (Traits::returns_void)
      apply_method<M, T>(object, arguments);
    else
      encode<typename Traits::Result>(to, apply_method<M, T>(object, arguments));
  }
  static wire::MethodName enter() {
    wire::MethodName entered{text, wire::method_hash(typeid(Method).name())};
    entered.is_idempotent = is_idempotent<M>;
    static_assert(!is_stream<typename Traits::Returned> || !is_idempotent<M>,
                  "a method that returns a Stream isn't repeated: its reader may have had some of it");
    MethodEntry entry{.of = class_hash<T>(), .group = thread_group<M>};
    if constexpr (is_coroutine<typename Traits::Returned>)
      entry.begin = [](void* object, Decoder& from) -> std::unique_ptr<RunningTask> {
        return std::make_unique<RunningTaskOf<M, T>>(object, from);
      };
    else
      entry.invoke = &invoke;
    register_method(entered, entry);
    return entered;
  }
  static inline const wire::MethodName name = enter();
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
  static inline const bool registered = register_class(name, {&construct, class_hash<T>()});
};

}  // namespace rt::detail
