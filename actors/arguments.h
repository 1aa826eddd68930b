#pragma once
// Arguments on their way into a method: what it is kept as while the method runs, and how a caller's value, which may
// be of another type, is written without a copy of it being made first.

#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "rt/runtime/wire/view.h"

namespace rt {

template <class T>
class Ref;

namespace detail {

template <class T>
inline constexpr bool is_view = is_a<T, View>;
template <class T>
inline constexpr bool is_ref = is_a<T, Ref>;

template <class T>
struct KeptAs {
  using type = std::decay_t<T>;
};
template <class T>
struct KeptAs<std::span<T>> {
  static_assert(
      std::is_const_v<T>,
      "a method sees its caller's elements, but can't change them: take std::span<const T>, not std::span<T>");
  using type = View<std::remove_const_t<T>>;
};
template <>
struct KeptAs<std::string_view> {
  using type = View<char>;
};
// What a method's parameter is while it runs: a copy, or a view of what isn't copied.
template <class P>
using Kept = typename KeptAs<std::remove_cvref_t<P>>::type;

// What a span or a view can be made of: vectors, arrays, spans, strings.
template <class A, class T>
concept ElementsOf = std::is_convertible_v<const A&, std::span<const T>> ||
    (std::is_same_v<T, char>&& std::is_convertible_v<const A&, std::string_view>);

template <class K, class A>
constexpr bool can_be_passed() {
  using Given = std::remove_cvref_t<A>;
  if constexpr (is_ref<Given> && !is_ref<K>) {
    if constexpr (is_view<K>)
      return std::is_same_v<typename Given::Seen, K>;
    else
      return std::is_same_v<typename Given::Value, K>;
  } else if constexpr (is_view<K>) {
    return std::is_same_v<Given, K> || ElementsOf<Given, typename K::value_type>;
  } else {
    return std::is_constructible_v<K, A>;
  }
}

template <class K, class A>
void encode_argument(Encoder& to, A&& given) {
  using Given = std::remove_cvref_t<A>;
  if constexpr (is_ref<Given> && !is_ref<K>) {
    given.encode_value(to);
  } else if constexpr (std::is_same_v<Given, K>) {
    encode<K>(to, given);
  } else if constexpr (is_view<K>) {
    using T = typename K::value_type;
    if constexpr (std::is_convertible_v<const Given&, std::span<const T>> && !std::is_array_v<Given>) {
      const std::span<const T> elements = given;
      to.elements(elements.data(), elements.size(), sizeof(T));
    } else {
      const std::string_view text = given;  // without the zero of a literal
      to.elements(text.data(), text.size(), 1);
    }
  } else {
    const K made(std::forward<A>(given));
    encode<K>(to, made);
  }
}

// `Kept`: a method's tuple of arguments.
template <class KeptArguments, class... Args>
void encode_arguments(Encoder& to, Args&&... given) {
  static_assert(sizeof...(Args) == std::tuple_size_v<KeptArguments>, "the method takes another number of arguments");
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    static_assert((can_be_passed<std::tuple_element_t<I, KeptArguments>, Args>() && ...),
                  "an argument doesn't convert to what the method takes");
    (encode_argument<std::tuple_element_t<I, KeptArguments>>(to, std::forward<Args>(given)), ...);
  }
  (std::index_sequence_for<Args...>{});
}

}  // namespace detail
}  // namespace rt
