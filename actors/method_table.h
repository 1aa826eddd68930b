#pragma once
// The method table: what a worker can construct and call, by name. Filled before main by the templates that a driver
// instantiates (the worker runs the same program, so it has what the driver names); constant afterwards.

#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "rt/runtime/wire/call.h"
#include "rt/runtime/wire/codec.h"

namespace rt::detail {

using AnyObject = std::shared_ptr<void>;
using Construct = AnyObject (*)(Decoder& arguments);
using Invoke = void (*)(void* object, Decoder& arguments, Encoder& result);

bool register_class(std::string_view name, Construct construct);
bool register_method(wire::MethodName name, Invoke invoke);

Construct find_class(std::string_view name);  // null where this program has none

struct MethodEntry {
  Invoke invoke = nullptr;  // null where this program has no such method
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

template <class M>
struct MemberTraits {
  static_assert(!std::is_same_v<M, M>, "call<...> wants a member function, as in call<&Counter::add>(5)");
};
#define RT_MEMBER_TRAITS(qualifier)                                              \
  template <class R, class C, class... P>                                        \
  struct MemberTraits<R (C::*)(P...) qualifier> {                                \
    using Result = std::conditional_t<std::is_void_v<R>, Unit, std::decay_t<R>>; \
    using Class = C;                                                             \
    using Arguments = std::tuple<std::decay_t<P>...>;                            \
    static constexpr bool returns_void = std::is_void_v<R>;                      \
  };
RT_MEMBER_TRAITS()
RT_MEMBER_TRAITS(const)
RT_MEMBER_TRAITS(noexcept)
RT_MEMBER_TRAITS(const noexcept)
#undef RT_MEMBER_TRAITS

template <auto M>
struct Method {
  using Traits = MemberTraits<decltype(M)>;
  static constexpr wire::MethodName name = method_name<M>();
  static_assert(!is_anonymous(name.text),
                "an actor's class may not be in an anonymous namespace: two files could have one of the same name");

  static void invoke(void* object, Decoder& from, Encoder& to) {
    auto arguments = decode_all<typename Traits::Arguments>(from);
    auto run = [&](auto&&... values) -> decltype(auto) {
      return (static_cast<typename Traits::Class*>(object)->*M)(std::forward<decltype(values)>(values)...);
    };
    if constexpr (Traits::returns_void)
      std::apply(run, std::move(arguments));
    else
      encode<typename Traits::Result>(to, std::apply(run, std::move(arguments)));
  }
  static inline const bool registered = register_method(name, &invoke);
};

// Arguments travel as values; a string literal as std::string.
template <class A>
using Sent = std::conditional_t<std::is_convertible_v<std::decay_t<A>, std::string_view> &&
                                    !std::is_same_v<std::decay_t<A>, std::string>,
                                std::string, std::decay_t<A>>;

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
