#pragma once
// Cap'n Proto messages as byte strings, and back. A reader refuses bytes that don't parse instead of throwing.

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "rt/runtime/base/result.h"

namespace rt::wire {

inline std::string to_bytes(capnp::MessageBuilder& message) {
  std::string bytes(capnp::computeSerializedSizeInWords(message) * sizeof(capnp::word), '\0');
  kj::ArrayOutputStream out(kj::arrayPtr(reinterpret_cast<kj::byte*>(bytes.data()), bytes.size()));
  capnp::writeMessage(out, message);
  return bytes;
}

// Calls `use(reader)` with the root of type T. `bytes` must be aligned to 8 and outlive the call; damaged bytes, also
// those that are found while `use` reads, give Code::Corrupt. What `use` may read is bounded by the message's size, so
// that pointers which all lead to one object can't make a small message a long work.
template <class T, class Use>
Status with_message(std::string_view bytes, Use&& use) {
  const std::size_t words = bytes.size() / sizeof(capnp::word);
  capnp::ReaderOptions options;
  options.traversalLimitInWords = std::max<std::uint64_t>(options.traversalLimitInWords, 8 * words);
  try {
    capnp::FlatArrayMessageReader reader(kj::arrayPtr(reinterpret_cast<const capnp::word*>(bytes.data()), words),
                                         options);
    use(reader.getRoot<T>());
    return Unit{};
  } catch (const kj::Exception& e) {
    return Error{Code::Corrupt, std::string("damaged message: ") + e.getDescription().cStr()};
  }
}

inline std::string text(capnp::Text::Reader reader) { return {reader.cStr(), reader.size()}; }
inline std::string data(capnp::Data::Reader reader) {
  return {reinterpret_cast<const char*>(reader.begin()), reader.size()};
}
inline capnp::Data::Reader as_data(std::string_view bytes) {
  return {reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()};
}

}  // namespace rt::wire
