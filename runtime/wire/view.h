#pragma once
// View<T>: elements that are read where they lie: a large argument or result in the node's shared memory, or the bytes
// of a message. A value: it keeps what it looks at, also when the call, the caller and the maker are gone.
//
// A method that takes std::span<const T> or std::string_view is given one for the length of the call, or of the
// coroutine; one that wants to keep the elements takes a View.

#include <memory>
#include <span>
#include <string_view>

#include "rt/runtime/wire/codec.h"

namespace rt {

template <class T>
class View {
  static_assert(detail::is_flat<T>,
                "a View's elements are numbers, enums, or plain structs and arrays of these: nothing with a pointer, a "
                "reference or a bool");

 public:
  using value_type = T;
  View() = default;
  // Of an object: all of it.
  explicit View(Large object)
      : values_(reinterpret_cast<const T*>(object->bytes().data()), object->bytes().size() / sizeof(T)),
        object_(std::move(object)) {}
  // A copy of these.
  explicit View(std::span<const T> values) : View(copy_of(values)) {}

  const T* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  const T& operator[](std::size_t i) const { return values_[i]; }
  std::span<const T> span() const { return values_; }
  operator std::span<const T>() const { return values_; }  // NOLINT(google-explicit-constructor)
  operator std::string_view() const                        // NOLINT(google-explicit-constructor)
      requires std::is_same_v<T, char> {
    return {values_.data(), values_.size()};
  }
  const Large& object() const { return object_; }  // null: it isn't one's

  void rt_encode(Encoder& to) const {
    if (object_ && to.carries_objects()) return to.attach(object_);
    to.elements(values_.data(), values_.size(), sizeof(T));
  }
  static View rt_decode(Decoder& from) {
    const Decoder::Elements elements = from.elements(sizeof(T));
    if (elements.object) return View(elements.object);
    return copy_of(elements.bytes);
  }

 private:
  static View copy_of(std::string_view bytes) {
    View view;
    const std::size_t count = bytes.size() / sizeof(T);
    std::shared_ptr<T[]> copy(new T[count]);
    if (count > 0) std::memcpy(static_cast<void*>(copy.get()), bytes.data(), count * sizeof(T));
    view.values_ = {copy.get(), count};
    view.copy_ = std::move(copy);
    return view;
  }
  static View copy_of(std::span<const T> values) {
    return copy_of(std::string_view(reinterpret_cast<const char*>(values.data()), values.size_bytes()));
  }

  std::span<const T> values_;
  Large object_;                     // what they lie in,
  std::shared_ptr<const T[]> copy_;  // or this
};

}  // namespace rt
