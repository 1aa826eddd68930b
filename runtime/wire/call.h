#pragma once
// The header of a call and of its reply, on a direct connection between two processes: 32 bytes, then the arguments or
// the result. The actor is the frame's route. With the frame's own 16 bytes a call of up to 16 bytes of arguments is
// one cache line. A method is known by a 64-bit FNV-1a hash: of its name, or of its symbol, which tells overloads
// apart.

#include <cstdint>
#include <string_view>

namespace rt::wire {

// Of a reply. All but Returned, Threw and Item mean that the method didn't run, or ended early as it was asked to.
enum class Outcome : std::uint16_t {
  Returned = 0,
  Threw = 1,  // the body is a Thrown
  UnknownMethod = 2,
  WrongClass = 3,  // the method takes objects of another class
  Cancelled = 4,   // before it began, or where it waited
  Expired = 5,     // its deadline had passed before it began
  Item = 6,        // one of a stream: more follow, and its end
  Lost = 7,        // an object that it refers to is gone; the body says it
};

struct CallHeader {
  std::uint64_t method = 0;      // of a grant: how many items more
  std::uint64_t sequence = 0;    // joins a reply to its call; 0: one way
  std::int64_t deadline_ns = 0;  // CLOCK_MONOTONIC; 0: none
  std::uint32_t incarnation = 0;
  Outcome outcome = Outcome::Returned;  // of a reply
  std::uint16_t objects = 0;            // before the body: so many PassedObjects (runtime/store/store.h)
};
static_assert(sizeof(CallHeader) == 32);

constexpr std::uint64_t method_hash(std::string_view name) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

// The name of a method, which outlives its calls (a literal, or what a template made), with its hash: a constant where
// it is written down as one. An urgent method runs at once on the worker's control thread, also while another runs.
struct MethodName {
  std::string_view text;
  std::uint64_t hash;
  bool is_urgent;
  bool is_idempotent = false;  // sent again where its actor died under it and comes back
  constexpr MethodName(std::string_view name, std::uint64_t name_hash)
      : text(name), hash(name_hash), is_urgent(false) {}
  constexpr MethodName(std::string_view name, bool urgent = false)
      : text(name), hash(method_hash(name)), is_urgent(urgent) {}
  constexpr MethodName(const char* name, bool urgent = false) : MethodName(std::string_view(name), urgent) {}
};

}  // namespace rt::wire
