#pragma once
// What holds wherever actors live, in processes of their own or inline (RT_LOCAL=inline): one suite for both, so that
// they can't drift apart.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "rt/actors/worker_context.h"
#include "rt/tests/support/cluster_test.h"

// Actors' classes have names that every process spells alike: none of them is in an anonymous namespace.
namespace conformance {

struct Facts {
  std::uint64_t id = 0;
  std::uint32_t incarnation = 0, node = 0, threads = 0;
  std::string name, name_space;
};

class Person {
 public:
  explicit Person(int n) : n_(n) {
    if (n < 0) throw std::invalid_argument("nobody begins at " + std::to_string(n));
    ++alive;
  }
  ~Person() { --alive; }
  static inline int alive = 0;  // in this process
  int add(int by) { return n_ += by; }
  int value() const { return n_; }
  void fail(std::string why) { throw std::out_of_range(why); }
  std::vector<int> sorted(std::vector<int> numbers) {
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }
  Facts facts() {
    const rt::Self& self = rt::self();
    return {self.id(),      self.incarnation(),       self.node(),
            self.threads(), std::string(self.name()), std::string(self.name_space())};
  }
  void leave() { rt::self().leave(); }
  void note(std::string what) { notes_.push_back(what); }
  std::vector<std::string> notes() { return notes_; }
  rt::Actor<Person> spawn_child(std::string name, bool detached) {
    return rt::self().spawn<Person>({.name = name, .detached = detached}, 1);
  }
  void kill(rt::Actor<Person> other) { other.kill(); }

  // Of another person, whom this one waits for.
  void meet(rt::Actor<Person> other) { other_ = other; }
  int add_to_other(int by) { return other_.call<&Person::add>(by).get(); }
  void let_other_fail(std::string why) { other_.call<&Person::fail>(why).get(); }
  void wait_for_ever(rt::Actor<Person> other) { (void)rt::watch(other).next(); }
  int meet_in_a_circle() { return other_.call<&Person::add_to_other>(1).get(); }
  // Each waits for the next one, `steps` times.
  int walk(int steps) { return steps == 0 ? n_ : other_.call<&Person::walk>(steps - 1).get(); }
  int wait_for_gentle_other() { return other_.call<&Person::add_gently>(1).get(); }
  int wait_for_both(rt::Actor<Person> idle) {
    const std::vector both{idle.call<&Person::add>(1), other_.call<&Person::walk>(1)};
    rt::wait_all(both);
    return both[1].get();
  }
  rt::Stream<int> count_to(int end) {
    for (int i = 0; i < end; ++i) co_yield i;
    if (end == 3) throw std::out_of_range("no fourth");
  }
  rt::Task<int> sum_of_others(int end) {
    auto numbers = other_.call<&Person::count_to>(end);
    int sum = 0;
    while (const auto number = co_await numbers.next()) sum += *number;
    co_return sum;
  }
  void tell_other(std::string what) { other_.call<&Person::note>(what).get(); }
  void tell_other_and_fail(std::string why) {
    try {
      fail(why);
    } catch (const std::out_of_range& e) {
      other_.call<&Person::note>(e.what()).get();
      throw;
    }
  }
  rt::Task<int> add_gently(int by) {
    note("begins");
    const int sum = co_await other_.call<&Person::add>(by);
    note("ends");
    co_return sum;
  }

  // Waits until somebody has set the key.
  std::string wait_for_key(std::string key) {
    return rt::detail::worker_context().client->keys().get(key, std::chrono::seconds(30)).get();
  }
  void set_key(std::string key, std::string value) {
    rt::detail::worker_context().client->keys().set(key, value).get();
  }
  std::string wait_slowly(std::string key) { return wait_for_key(key); }  // in the group "slow"
  // Both wait, and each for what the other one does while it waits.
  int meet_at(std::string mine, std::string theirs) {
    set_key(mine, "here");
    wait_for_key(theirs);
    set_key(mine + " left", "");
    wait_for_key(theirs + " left");
    return n_;
  }

 private:
  int n_;
  rt::Actor<Person> other_;
  std::vector<std::string> notes_;
};

}  // namespace conformance

template <>
inline constexpr std::string_view rt::thread_group<&conformance::Person::wait_slowly> = "slow";

namespace conformance {

// Its first `failures` incarnations can't be constructed.
class Fragile {
 public:
  explicit Fragile(std::uint32_t failures) {
    if (rt::self().incarnation() <= failures)
      throw std::runtime_error("incarnation " + std::to_string(rt::self().incarnation()) + " is too weak");
  }
  std::uint32_t incarnation() { return rt::self().incarnation(); }
};

inline rt::Task<int> sum_of(std::vector<rt::Actor<Person>> people) {
  int sum = 0;
  for (const auto& person : people) sum += co_await person.call<&Person::add>(1);
  co_return sum;
}

}  // namespace conformance

namespace rt::testing {

enum class Where { Processes, Inline };
inline std::string name_of(const ::testing::TestParamInfo<Where>& where) {
  return where.param == Where::Inline ? "Inline" : "Processes";
}

// The environment variable as long as this lives.
class LocalMode {
 public:
  explicit LocalMode(Where where) {
    if (where == Where::Inline)
      ::setenv("RT_LOCAL", "inline", 1);
    else
      ::unsetenv("RT_LOCAL");
  }
  ~LocalMode() { ::unsetenv("RT_LOCAL"); }
};

template <class Test>
class AtEach : private LocalMode, public Test, public ::testing::WithParamInterface<Where> {
 protected:
  AtEach() : LocalMode(::testing::WithParamInterface<Where>::GetParam()) {}
};

class PeopleTest : public ClusterTest {
 protected:
  PeopleTest() : ClusterTest({.cpus = 4, .resources = {{"licence", 1}}, .name_space = "test"}) {}
  Actor<conformance::Person> person(const SpawnOptions& options = {}, int n = 0) {
    return cluster->spawn<conformance::Person>(options, n);
  }
  Actor<conformance::Person> person_who_met(const Actor<conformance::Person>& other) {
    auto one = person();
    one.call<&conformance::Person::meet>(other).get();
    return one;
  }
  // From its return to `let_go` it is in the middle of a method.
  void hold(const Actor<conformance::Person>& actor) {
    actor.call<&conformance::Person::meet_at>("is held", "go");
    person().call<&conformance::Person::wait_for_key>("is held").get();
  }
  void let_go() {
    for (const char* key : {"go", "go left"}) person().call<&conformance::Person::set_key>(key, "").get();
  }
  std::string me() const { return "the driver (pid " + std::to_string(::getpid()) + ")"; }
};

}  // namespace rt::testing
