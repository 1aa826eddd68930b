#pragma once
// Ref<T>: a value that lies in its node's shared memory, put there once. A value itself: copied freely, kept in
// structs, passed to actors and tasks, returned by them; whoever has a copy may read, whatever became of who made it.
//
//   rt::Ref<std::vector<float>> weights = cluster.put(vector);
//   for (auto& actor : actors) actor.call<&Worker::use>(weights);   // constant time each: nothing is copied
//   std::span<const float> seen = weights.get();                    // where it lies
//
// A method that takes T, std::span<const E> or a View of its elements is given a Ref<T> as well as a T. The value goes
// with the last Ref to it, on whichever process, or with its node: then Code::Lost.

#include <string>
#include <vector>

#include "rt/actors/arguments.h"
#include "rt/actors/client.h"

namespace rt {

namespace detail {

// Values that are their elements: those lie in the store as they are, and are seen there.
template <class T>
struct SeenAs {
  using type = T;
  static constexpr bool is_elements = false;
};
template <class E>
requires is_flat<E>
struct SeenAs<std::vector<E>> {
  using type = View<E>;
  static constexpr bool is_elements = true;
};
template <>
struct SeenAs<std::string> {
  using type = View<char>;
  static constexpr bool is_elements = true;
};

inline constexpr std::uint64_t kNoRef = 0, kRefById = 1;

}  // namespace detail

template <class T>
class Ref {
 public:
  using Value = T;
  using Seen = typename detail::SeenAs<T>::type;

  Ref() = default;
  explicit Ref(Large object) : object_(std::move(object)) {}

  // Of a vector of plain elements, or a string: a view of it where it lies. Of anything else: a copy.
  Seen get() const {
    if (!object_) throw Exception({Code::Invalid, "this rt::Ref refers to nothing: it was never assigned"});
    if constexpr (detail::SeenAs<T>::is_elements) {
      return Seen(object_);
    } else {
      Decoder from(object_->bytes());
      return decode<T>(from);
    }
  }
  explicit operator bool() const { return object_ != nullptr; }
  std::size_t bytes() const { return object_ ? object_->bytes().size() : 0; }
  ObjectId id() const { return object_ ? object_->id() : ObjectId(); }
  bool operator==(const Ref& other) const { return id() == other.id(); }

  // --- inside the library
  const Large& object() const { return object_; }
  void rt_encode(Encoder& to) const {
    if (!object_) return to.size(detail::kNoRef);
    if (to.carries_objects()) return to.attach(object_);
    to.size(detail::kRefById);
    const ObjectId id = object_->id();
    to.raw(&id, sizeof id);
    to.keep(object_);
  }
  static Ref rt_decode(Decoder& from) {
    if (from.is_beside()) return Ref(from.elements(1).object);
    const std::uint64_t kind = decode<std::uint64_t>(from);
    if (kind == detail::kNoRef) return {};
    if (kind != detail::kRefById) Decoder::corrupt();
    ObjectId id;
    from.raw(&id, sizeof id);
    auto* const client = static_cast<detail::Client*>(from.context());
    if (!client || !client->large())
      throw Exception({Code::Unavailable, "an rt::Ref has come without an object store"});
    return Ref(client->large()->find(id).get());
  }
  // As the T that it refers to.
  void encode_value(Encoder& to) const {
    if (!object_) throw Exception({Code::Invalid, "this rt::Ref refers to nothing: it was never assigned"});
    if constexpr (detail::SeenAs<T>::is_elements)
      Seen(object_).rt_encode(to);
    else
      to.raw(object_->bytes().data(), object_->bytes().size());
  }

 private:
  Large object_;
};

namespace detail {

// What a value is put as.
template <class A>
struct PutAs {
  using type = std::decay_t<A>;
};
template <class E, std::size_t N>
struct PutAs<std::span<E, N>> {
  using type = std::vector<std::remove_const_t<E>>;
};
template <class E>
struct PutAs<View<E>> {
  using type = std::vector<E>;
};
template <>
struct PutAs<std::string_view> {
  using type = std::string;
};
template <>
struct PutAs<const char*> {
  using type = std::string;
};
template <std::size_t N>
struct PutAs<char[N]> {
  using type = std::string;
};

Large put_bytes(LargeStore* store, const void* bytes, std::size_t size);  // throws

template <class A>
auto put(LargeStore* store, const A& value) {
  using T = typename PutAs<A>::type;
  if constexpr (is_view<A>)
    if (value.object()) return Ref<T>(value.object());
  if constexpr (std::is_same_v<T, std::string>) {
    const std::string_view text = value;
    return Ref<T>(put_bytes(store, text.data(), text.size()));
  } else if constexpr (SeenAs<T>::is_elements) {
    const std::span<const typename T::value_type> elements = value;
    return Ref<T>(put_bytes(store, elements.data(), elements.size_bytes()));
  } else {
    Encoder to;
    encode<T>(to, value);
    if (!to.attachments().empty())
      throw Exception({Code::Invalid, "what is put can't hold an rt::Ref itself: put its parts, and pass the Refs"});
    return Ref<T>(put_bytes(store, to.bytes().data(), to.bytes().size()));
  }
}

}  // namespace detail
}  // namespace rt
