#pragma once
// The codec for C++ values: what an actor's method takes and returns, as bytes.
//
// Scalars, enums, strings, std::optional, variant, pair, tuple, array, vector, map, set, chrono durations, paths, and
// plain aggregates of these (up to 100 fields, by Boost.PFR) need nothing. Another class gives two members:
//   void rt_encode(rt::Encoder&) const;  static T rt_decode(rt::Decoder&);
// A type that is none of these fails to compile and is named.
//
// Bytes are the machine's own (little endian): both ends are one program, or agree by a fingerprint. Decoding checks
// every length against what is there and how deep types nest in themselves (kMostNested), so hostile bytes end in
// rt::Exception (Code::Corrupt), never in memory or a stack that they claim. Each element of a sequence takes a byte at
// least, also one of a type without fields.

#include <array>
#include <boost/pfr/core.hpp>
#include <boost/pfr/tuple_size.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "rt/runtime/base/bytes.h"
#include "rt/runtime/base/result.h"
#include "rt/runtime/wire/large.h"

namespace rt {

// The highest bit of a count of elements: they are an object beside the message, the one with that number.
inline constexpr std::uint64_t kBeside = std::uint64_t{1} << 63;

class Encoder {
 public:
  Encoder() = default;
  // Large values become objects there, where there is room; else they are in the message.
  explicit Encoder(LargeStore* large) : large_(large) {}

  void raw(const void* from, std::size_t size) { bytes_.append(from, size); }
  void size(std::uint64_t value) { raw(&value, sizeof value); }
  std::string_view bytes() const { return bytes_.view(); }  // as long as nothing more is encoded
  std::string take() { return bytes_.size() == 0 ? std::string() : std::string(bytes()); }
  void clear() {
    bytes_.clear();
    attachments_.clear();
  }

  // So many elements of `width` bytes each.
  void elements(const void* from, std::uint64_t count, std::size_t width) {
    if (count * width >= kLargeValue && put_beside(from, count * width)) return;
    size(count);
    raw(from, count * width);
  }
  // They as an object. False: there is no room, or none wanted.
  bool put_beside(const void* from, std::size_t bytes) {
    if (!carries_objects()) return false;
    Result<Large> made = large_->put(from, bytes);
    if (made) attach(*std::move(made));
    return bool(made);
  }
  void attach(Large object) {
    size(kBeside | attachments_.size());
    attachments_.push_back(std::move(object));
  }
  // It is referred to by its id; who sends this sees to it that it stays.
  void keep(Large object) { attachments_.push_back(std::move(object)); }
  bool carries_objects() const { return large_ && attachments_.size() < kMostAttachments; }
  LargeStore* large() const { return large_; }
  const Attachments& attachments() const { return attachments_; }
  static constexpr std::size_t kMostAttachments = UINT16_MAX;

 private:
  Bytes bytes_;
  LargeStore* large_ = nullptr;
  Attachments attachments_;
};

class Decoder {
 public:
  // `context`: what handles need to come to life in this process; the process's client.
  explicit Decoder(std::string_view bytes, void* context = nullptr, const Attachments* attachments = nullptr)
      : rest_(bytes), context_(context), attachments_(attachments) {}

  void raw(void* to, std::size_t size) {
    need(size);
    if (size > 0) std::memcpy(to, rest_.data(), size);
    rest_.remove_prefix(size);
  }
  // A count of elements that take at least `least` bytes each.
  std::uint64_t size(std::size_t least) {
    std::uint64_t value = 0;
    raw(&value, sizeof value);
    if (least > 0 && value > rest_.size() / least) corrupt();
    return value;
  }
  std::string_view bytes(std::size_t size) {
    need(size);
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::size_t left() const { return rest_.size(); }

  // What Encoder::elements wrote. `object`: what the bytes lie in, where they are beside the message.
  struct Elements {
    std::string_view bytes;
    Large object;
  };
  Elements elements(std::size_t width) {
    std::uint64_t count = 0;
    raw(&count, sizeof count);
    if (count & kBeside) {
      Large object = attachment(count & ~kBeside);
      if (object->bytes().size() % width != 0) corrupt();
      return {object->bytes(), std::move(object)};
    }
    if (count > rest_.size() / width) corrupt();
    return {bytes(count * width), nullptr};
  }
  // The next thing is an object beside the message.
  bool is_beside() const {
    std::uint64_t count = 0;
    if (rest_.size() >= sizeof count) std::memcpy(&count, rest_.data(), sizeof count);
    return (count & kBeside) != 0;
  }
  const Large& attachment(std::uint64_t number) const {
    if (!attachments_ || number >= attachments_->size()) corrupt();
    return (*attachments_)[number];
  }

  // While it lives, one level deeper: a type may hold itself, as a tree does.
  class Level {
   public:
    explicit Level(Decoder& decoder) : decoder_(decoder) {
      if (++decoder_.nested_ > kMostNested) corrupt();
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --decoder_.nested_; }

   private:
    Decoder& decoder_;
  };
  void* context() const { return context_; }
  static constexpr int kMostNested = 500;
  [[noreturn]] static void corrupt() { throw Exception({Code::Corrupt, "damaged arguments or result"}); }

 private:
  void need(std::size_t size) const {
    if (size > rest_.size()) corrupt();
  }
  std::string_view rest_;
  void* context_;
  const Attachments* attachments_;
  int nested_ = 0;
};

template <class T>
void encode(Encoder& to, const T& value);
template <class T>
T decode(Decoder& from);

namespace detail {

template <class T, template <class...> class Template>
inline constexpr bool is_a = false;
template <template <class...> class Template, class... Args>
inline constexpr bool is_a<Template<Args...>, Template> = true;

template <class T>
inline constexpr bool is_std_array = false;
template <class T, std::size_t N>
inline constexpr bool is_std_array<std::array<T, N>> = true;

template <class T>
inline constexpr bool is_sequence = is_a<T, std::vector> || is_a<T, std::set> || is_a<T, std::map>;

template <class T>
concept HasOwnCodec = requires(const T& value, Encoder& to, Decoder& from) {
  value.rt_encode(to);
  { T::rt_decode(from) } -> std::same_as<T>;
};

template <class T>
inline constexpr bool is_plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

// Values that are the same as their bytes, whichever these are: numbers, enums, arrays and plain structs of them.
template <class T>
constexpr bool find_flat() {
  if constexpr (is_std_array<T>)
    return find_flat<typename T::value_type>();
  else if constexpr (std::is_aggregate_v<T> && std::is_trivially_copyable_v<T> && !std::is_array_v<T> &&
                     !HasOwnCodec<T>)
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (find_flat<boost::pfr::tuple_element_t<I, T>>() && ...);
    }
  (std::make_index_sequence<boost::pfr::tuple_size_v<T>>{});
  else return is_plain<T> && !std::is_same_v<T, bool>;
}
template <class T>
inline constexpr bool is_flat = find_flat<T>();

template <class T>
std::vector<T> vector_of(std::string_view bytes) {
  const std::size_t count = bytes.size() / sizeof(T);
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) == 0) {
    const auto* const first = reinterpret_cast<const T*>(bytes.data());
    return std::vector<T>(first, first + count);  // not zeroed first
  }
  std::vector<T> values(count);
  std::memcpy(static_cast<void*>(values.data()), bytes.data(), count * sizeof(T));
  return values;
}

template <class T>
inline constexpr bool no_codec_for = false;

template <class T>
void encode_sequence(Encoder& to, const T& values) {
  if constexpr (is_a<T, std::vector>) {
    using Value = typename T::value_type;
    if constexpr (is_plain<Value> && !std::is_same_v<Value, bool>)
      return to.elements(values.data(), values.size(), sizeof(Value));
    else if constexpr (is_flat<Value>)
      if (values.size() * sizeof(Value) >= kLargeValue && to.put_beside(values.data(), values.size() * sizeof(Value)))
        return;
  }
  to.size(values.size());
  for (const auto& value : values) encode<std::remove_cvref_t<decltype(value)>>(to, value);
}

template <class T>
T decode_plain(Decoder& from) {
  if constexpr (std::is_same_v<T, bool>) {
    const auto byte = decode_plain<std::uint8_t>(from);
    if (byte > 1) Decoder::corrupt();  // a bool of another value is undefined
    return byte == 1;
  } else {
    T value;
    from.raw(&value, sizeof value);
    return value;
  }
}

template <class T>
T decode_fields(Decoder& from) {
  T value{};
  if constexpr (boost::pfr::tuple_size_v<T> == 0) decode_plain<std::uint8_t>(from);
  boost::pfr::for_each_field(value, [&](auto& field) { field = decode<std::remove_cvref_t<decltype(field)>>(from); });
  return value;
}

template <class T>
void encode_fields(Encoder& to, const T& value) {
  if constexpr (boost::pfr::tuple_size_v<T> == 0) encode<std::uint8_t>(to, 0);
  boost::pfr::for_each_field(value,
                             [&](const auto& field) { encode<std::remove_cvref_t<decltype(field)>>(to, field); });
}

template <class T>
T decode_sequence(Decoder& from) {
  using Value = typename T::value_type;
  if constexpr (is_a<T, std::vector> && is_flat<Value>)
    if (is_plain<Value> || from.is_beside()) return vector_of<Value>(from.elements(sizeof(Value)).bytes);
  T values;
  if constexpr (is_a<T, std::map>) {
    for (std::uint64_t n = from.size(1); n > 0; --n) {
      auto key = decode<typename T::key_type>(from);
      values.emplace(std::move(key), decode<typename T::mapped_type>(from));
    }
  } else {
    for (std::uint64_t n = from.size(1); n > 0; --n) values.insert(values.end(), decode<Value>(from));
  }
  return values;
}

template <class T, std::size_t... I>
T decode_tuple(Decoder& from, std::index_sequence<I...>) {
  return T{decode<std::tuple_element_t<I, T>>(from)...};  // braces: in order
}

template <class T, std::size_t I = 0>
T decode_variant(Decoder& from, std::size_t index) {
  if constexpr (I < std::variant_size_v<T>) {
    if (index == I) return T(std::in_place_index<I>, decode<std::variant_alternative_t<I, T>>(from));
    return decode_variant<T, I + 1>(from, index);
  } else {
    Decoder::corrupt();
  }
}

}  // namespace detail

template <class T>
void encode(Encoder& to, const T& value) {
  using namespace detail;
  if constexpr (HasOwnCodec<T>)
    value.rt_encode(to);
  else if constexpr (is_plain<T>)
    to.raw(&value, sizeof value);
  else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>)
    to.elements(value.data(), value.size(), 1);
  else if constexpr (std::is_same_v<T, std::filesystem::path>)
    encode<std::string>(to, value.string());
  else if constexpr (is_a<T, std::chrono::duration>)
    encode<typename T::rep>(to, value.count());
  else if constexpr (is_sequence<T>)
    encode_sequence(to, value);
  else if constexpr (is_std_array<T>)
    for (const auto& element : value) encode<typename T::value_type>(to, element);
  else if constexpr (is_a<T, std::optional>) {
    encode<bool>(to, value.has_value());
    if (value) encode<typename T::value_type>(to, *value);
  } else if constexpr (is_a<T, std::variant>) {
    to.size(value.index());
    std::visit([&](const auto& held) { encode<std::remove_cvref_t<decltype(held)>>(to, held); }, value);
  } else if constexpr (is_a<T, std::tuple> || is_a<T, std::pair>)
    std::apply([&](const auto&... parts) { (encode<std::remove_cvref_t<decltype(parts)>>(to, parts), ...); }, value);
  else if constexpr (std::is_same_v<T, std::monostate>)
    encode<std::uint8_t>(to, 0);
  else if constexpr (std::is_aggregate_v<T> && !std::is_array_v<T>)
    encode_fields(to, value);
  else
    static_assert(no_codec_for<T>,
                  "rt can't send this type: give it rt_encode and rt_decode, or make it a plain aggregate");
}

template <class T>
T decode(Decoder& from) {
  using namespace detail;
  [[maybe_unused]] const Decoder::Level level(from);
  if constexpr (HasOwnCodec<T>)
    return T::rt_decode(from);
  else if constexpr (is_plain<T>)
    return decode_plain<T>(from);
  else if constexpr (std::is_same_v<T, std::string>)
    return std::string(from.elements(1).bytes);
  else if constexpr (std::is_same_v<T, std::filesystem::path>)
    return decode<std::string>(from);
  else if constexpr (is_a<T, std::chrono::duration>)
    return T(decode<typename T::rep>(from));
  else if constexpr (is_sequence<T>)
    return decode_sequence<T>(from);
  else if constexpr (is_std_array<T>) {
    T values;
    for (auto& value : values) value = decode<typename T::value_type>(from);
    return values;
  } else if constexpr (is_a<T, std::optional>) {
    if (!decode<bool>(from)) return std::nullopt;
    return decode<typename T::value_type>(from);
  } else if constexpr (is_a<T, std::variant>)
    return decode_variant<T>(from, from.size(0));
  else if constexpr (is_a<T, std::tuple> || is_a<T, std::pair>)
    return decode_tuple<T>(from, std::make_index_sequence<std::tuple_size_v<T>>{});
  else if constexpr (std::is_same_v<T, std::monostate>) {
    decode_plain<std::uint8_t>(from);
    return {};
  } else if constexpr (std::is_aggregate_v<T> && !std::is_array_v<T>)
    return decode_fields<T>(from);
  else
    static_assert(no_codec_for<T>,
                  "rt can't receive this type: give it rt_encode and rt_decode, or make it a plain aggregate");
}

}  // namespace rt
