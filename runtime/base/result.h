#pragma once
// Result: a value or an Error, for every function inside rt that can fail. The public surface turns an Error into an
// rt::Exception where a person asked for a plain value.

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace rt {

// One code for each way in which a caller may react; the message says the rest.
enum class Code {
  Invalid,      // the request can never succeed as it was written: the person mends it
  NotFound,     // a file, name, key or method isn't there
  Unavailable,  // what was asked for isn't free or reachable now: trying again may succeed
  NotSent,      // a call that certainly didn't run: it may be sent again
  MaybeRan,     // a call whose actor died under it: sent again only if it is idempotent
  Failed,       // the method ran and threw; the message carries its text
  Deadline,     // the deadline passed
  Cancelled,    // a call that its caller gave up
  Deadlock,     // actors that wait for each other in a circle: none of them could ever go on
  Refused,      // version, token, user or epoch didn't match
  Corrupt,      // bytes that don't check: a torn or damaged file or message
  System,       // the operating system said no; the message carries errno's text
  Lost,         // an object that was put is gone, with its node or its last reference: it has to be made again
  NoSpace,      // the disk or its user's quota is full, of bytes or of inodes: room mends it, a further try doesn't
};

const char* to_string(Code code);

struct Error {
  Code code = Code::Invalid;
  std::string message;  // what, where, the value seen, what to do next
  bool operator==(const Error&) const = default;
};

// `what` failed with errno `number`; NoSpace where that says that the disk or the quota is full.
Error system_error(std::string what, int number);

// What `get()` throws.
class Exception : public std::runtime_error {
 public:
  explicit Exception(Error error) : std::runtime_error(error.message), error_(std::move(error)) {}
  Code code() const { return error_.code; }
  const Error& error() const { return error_; }

 private:
  Error error_;
};

struct Unit {
  bool operator==(const Unit&) const = default;
};

template <class T = Unit>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return state_.index() == 0; }
  const T& operator*() const& { return std::get<0>(state_); }
  T& operator*() & { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  const T* operator->() const { return &std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

  // The value, or an Exception.
  T get() && {
    if (!*this) throw Exception(error());
    return std::get<0>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

using Status = Result<Unit>;

// `name` becomes the value of `expression`; an Error of it is returned from the enclosing function.
#define RT_TRY(name, expression) RT_TRY_(name, expression, RT_TRY_NAME_(__LINE__))
#define RT_TRY_(name, expression, result)        \
  auto result = (expression);                    \
  if (!result) return std::move(result).error(); \
  auto name = *std::move(result)
#define RT_TRY_NAME_(line) RT_TRY_NAME2_(line)
#define RT_TRY_NAME2_(line) rt_try_##line

// The same for an expression whose value isn't wanted.
#define RT_CHECK(expression)                                              \
  do {                                                                    \
    if (auto rt_check = (expression); !rt_check) return rt_check.error(); \
  } while (false)

}  // namespace rt
