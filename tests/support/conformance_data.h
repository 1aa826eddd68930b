#pragma once
// Actors and tasks that take and make large values, for what holds wherever they live.

#include <map>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rt/tests/support/conformance.h"

namespace conformance {

struct Named {
  std::string name;
  rt::Ref<std::vector<double>> values;
};

// --- tasks

inline int add(int a, int b) { return a + b; }
inline void fail(const std::string& why) { throw std::out_of_range(why); }
inline int fail_to_count(const std::string& why) { throw std::out_of_range(why); }
inline std::vector<double> numbers(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}
inline double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }
inline rt::Ref<std::vector<double>> put_numbers(std::size_t count) { return rt::self().put(numbers(count)); }
inline std::vector<std::string> gpus() {
  const auto held = rt::self().gpus();
  return {held.begin(), held.end()};
}

inline int depth(int left) { return left == 0 ? 0 : 1 + rt::self().run<&depth>(left - 1).get(); }
inline int depth_gently(int left);
inline rt::Task<int> go_deeper(int left) { co_return 1 + co_await rt::self().run<&depth_gently>(left - 1); }
inline int depth_gently(int left) { return left == 0 ? 0 : rt::self().wait(go_deeper(left)); }
inline long fib(int n) {
  if (n < 2) return n;
  const auto a = rt::self().run<&fib>(n - 1), b = rt::self().run<&fib>(n - 2);
  return a.get() + b.get();
}

// In the order in which they began, of one process.
inline std::vector<int>& begun() {
  static std::vector<int> numbers;
  return numbers;
}
inline int note_and_ask(int n) {
  begun().push_back(n);
  return rt::self().run<&add>(n, 1).get();
}

inline auto& keys() { return rt::detail::worker_context().client->keys(); }
// Sets the one key and waits for the other.
inline int wait_for_key(const std::string& begun, const std::string& go) {
  keys().set(begun, "").get();
  keys().get(go, std::chrono::seconds(30)).get();
  return 1;
}

// --- actors

class Reader {
 public:
  double sum(std::span<const double> values) { return conformance::sum(values); }
  double sum_of_copy(std::vector<double> values) { return conformance::sum(values); }
  std::size_t length(std::string_view text) { return text.size(); }
  std::vector<double> make(std::size_t count) { return numbers(count); }
  rt::View<double> make_view(std::size_t count) {
    const auto values = numbers(count);
    return rt::View<double>(std::span<const double>(values));
  }
  rt::Ref<std::vector<double>> put(std::size_t count) { return put_numbers(count); }
  rt::Task<double> sum_gently(std::span<const double> values, rt::Actor<Reader> other) {
    const double first = co_await other.call<&Reader::sum>(values.subspan(0, 10));
    co_return first + sum(values);
  }

  void keep(rt::Ref<std::vector<double>> values) { kept_ = values; }
  void keep_named(Named named) { kept_ = named.values; }
  double sum_of_kept() { return sum(kept_.get()); }
  void let_go() { kept_ = {}; }

  void set_key(std::string key) { keys().set(key, "").get(); }
  void wait_for_key(std::string key) { keys().get(key, std::chrono::seconds(30)).get(); }
  int add_elsewhere(int a, int b) { return rt::self().run<&add>(a, b).get(); }
  int wait_elsewhere(std::string begun, std::string go) {
    return rt::self().run<&conformance::wait_for_key>(begun, go).get();
  }

 private:
  rt::Ref<std::vector<double>> kept_;
};

// Its first `failures` incarnations can't be constructed.
class Holder {
 public:
  Holder(rt::Ref<std::vector<double>> values, std::uint32_t failures) : sum_(sum(values.get())) {
    if (rt::self().incarnation() <= failures) throw std::runtime_error("too weak");
  }
  std::vector<double> facts() { return {double(rt::self().incarnation()), sum_}; }

 private:
  double sum_;
};

}  // namespace conformance
