// Large values and references: what goes through the node's shared memory instead of the rings.
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <numeric>
#include <random>

#include "rt/runtime/store/store.h"
#include "rt/tests/support/cluster_test.h"

namespace objects_test {

struct Sample {
  double x, y;
  int label;
  bool operator==(const Sample&) const = default;
};
struct Named {
  std::string name;
  rt::Ref<std::vector<double>> values;
};

// Is that memory the node's store?
inline bool is_in_store(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    std::sscanf(line.c_str(), "%lx-%lx", &begin, &end);
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (at >= begin && at < end) return line.find("rt-store") != std::string::npos;
  }
  return false;
}

class Reader {
 public:
  double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }
  bool sees_in_store(std::span<const double> values) { return is_in_store(values.data()); }
  bool copies(std::vector<double> values) { return !is_in_store(values.data()); }
  std::size_t length(std::string_view text) { return text.size(); }
  std::size_t count(const std::map<int, std::string>& names) { return names.size(); }
  std::vector<Sample> twice(std::vector<Sample> samples) {
    samples.insert(samples.end(), samples.begin(), samples.end());
    return samples;
  }
  std::vector<double> make(std::size_t count) {
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), 0.0);
    return values;
  }
  rt::View<double> make_view(std::size_t count) { return rt::View<double>(std::span<const double>(make(count))); }
  rt::Ref<std::vector<double>> put(std::size_t count) { return rt::self().put(make(count)); }

  void keep(rt::Ref<std::vector<double>> values) { kept_ = values; }
  void keep_named(Named named) { kept_ = named.values; }
  double sum_of_kept() { return sum(kept_.get()); }
  void let_go() { kept_ = {}; }

  // Reads its argument again once the file is there.
  double sum_after(std::span<const double> values, std::string file) {
    while (::access(file.c_str(), F_OK) != 0) ::poll(nullptr, 0, 1);
    return sum(values);
  }
  rt::Task<double> sum_gently(std::span<const double> values, rt::Actor<Reader> other) {
    const double first = co_await other.call<&Reader::sum>(values.subspan(0, 10));
    co_return first + sum(values);
  }
  int pid() { return ::getpid(); }

 private:
  rt::Ref<std::vector<double>> kept_;
};

// Calls others, with what is its own.
class Caller {
 public:
  int pid() { return ::getpid(); }
  void call_and_linger(rt::Actor<Reader> reader, std::size_t count, std::string file) {
    const std::vector<double> values(count, 1.0);
    (void)reader.call<&Reader::sum_after>(values, file).result();
  }
  void send_and_die(rt::Actor<Reader> reader, std::size_t count) {
    reader.call<&Reader::pid>().get();  // it is connected
    (void)reader.send<&Reader::keep>(rt::self().put(std::vector<double>(count, 1.0)));
    ::raise(SIGKILL);
  }
};

class Passer {
 public:
  int pid() { return ::getpid(); }
  void pass(rt::Ref<std::vector<double>> values, std::vector<rt::Actor<Reader>> readers) {
    const std::vector<double> mine(10'000, 3.0);
    for (std::size_t i = 0;; ++i) {
      for (const auto& reader : readers) (void)reader.send<&Reader::keep>(values);
      if (readers[i % readers.size()].call<&Reader::sum>(mine).get() != 30'000) std::abort();
    }
  }
};

class Holder {
 public:
  explicit Holder(rt::Ref<std::vector<double>> values) : values_(values) {}
  double first() { return values_.get()[0]; }
  void die() { ::raise(SIGKILL); }

 private:
  rt::Ref<std::vector<double>> values_;
};

}  // namespace objects_test

namespace rt::testing {
namespace {

using namespace objects_test;
using ::testing::HasSubstr;

constexpr std::size_t kLarge = 100'000;                           // elements
constexpr double kSum = double(kLarge) * double(kLarge - 1) / 2;  // of 0, 1, 2, ...

class Objects : public ClusterTest {
 protected:
  explicit Objects(std::uint64_t capacity = 64 << 20) : ClusterTest({.cpus = 4, .object_store = capacity}) {}
  static std::vector<double> numbers(std::size_t count = kLarge) {
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), 0.0);
    return values;
  }
  std::uint64_t used() { return static_cast<Store*>(cluster->client().large())->used(); }
  bool is_empty_soon() {
    return eventually([&] { return used() == 0; });
  }
};

TEST_F(Objects, ALargeArgumentIsSeenWhereItLies) {
  auto reader = cluster->spawn<Reader>();
  EXPECT_EQ(reader.call<&Reader::sum>(numbers()).get(), kSum);
  EXPECT_TRUE(reader.call<&Reader::sees_in_store>(numbers()).get());
  EXPECT_TRUE(reader.call<&Reader::copies>(numbers()).get());
  EXPECT_EQ(reader.call<&Reader::length>(std::string(1 << 20, 'x')).get(), std::size_t{1} << 20);
  EXPECT_TRUE(is_empty_soon());
}

TEST_F(Objects, ASmallOneGoesWithTheMessage) {
  auto reader = cluster->spawn<Reader>();
  EXPECT_EQ(reader.call<&Reader::sum>(numbers(4)).get(), 6);
  EXPECT_FALSE(reader.call<&Reader::sees_in_store>(numbers(4)).get());
  EXPECT_EQ(reader.call<&Reader::length>("four").get(), 4u);
  EXPECT_EQ(reader.call<&Reader::sum>(std::array{1.0, 2.0}).get(), 3);
}

TEST_F(Objects, LargeResultsAndPlainStructsTravelToo) {
  auto reader = cluster->spawn<Reader>();
  EXPECT_EQ(reader.call<&Reader::make>(kLarge).get(), numbers());
  const View<double> view = reader.call<&Reader::make_view>(kLarge).get();
  EXPECT_TRUE(is_in_store(view.data()));
  EXPECT_EQ(std::vector<double>(view.begin(), view.end()), numbers());
  std::vector<Sample> samples(10'000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = {double(i), -double(i), int(i % 7)};
  const auto twice = reader.call<&Reader::twice>(samples).get();
  ASSERT_EQ(twice.size(), 2 * samples.size());
  EXPECT_TRUE(std::equal(samples.begin(), samples.end(), twice.begin() + 10'000));
}

TEST_F(Objects, AViewLivesAsLongAsACoroutine) {
  auto reader = cluster->spawn<Reader>(), other = cluster->spawn<Reader>();
  EXPECT_EQ(reader.call<&Reader::sum_gently>(numbers(), other).get(), kSum + 45);
  EXPECT_EQ(reader.call<&Reader::sum_gently>(numbers(20), other).get(), 190 + 45);
}

TEST_F(Objects, TheDeathOfACallerHarmsNoMethodThatReads) {
  auto reader = cluster->spawn<Reader>();
  auto caller = cluster->spawn<Caller>();
  const int pid = caller.call<&Caller::pid>().get();
  const std::string file = (sandbox / "go").string();
  (void)caller.call<&Caller::call_and_linger>(reader, kLarge, file);
  ASSERT_TRUE(eventually([&] { return used() >= kLarge * sizeof(double); }));
  const auto mine = reader.call<&Reader::sum_after>(numbers(), file);  // behind the other one
  ::kill(pid, SIGKILL);
  EXPECT_TRUE(eventually([&] { return error_of(caller.call<&Caller::pid>()).code == Code::NotSent; }));
  // What others put meanwhile takes no memory of what is still read.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(cluster->put(std::vector<double>(kLarge, -1.0)).get()[kLarge - 1], -1.0);
  std::ofstream{file};
  EXPECT_EQ(mine.get(), kSum);
  EXPECT_TRUE(is_empty_soon());
}

TEST_F(Objects, ARefIsReadByAllThatHaveIt) {
  auto ref = cluster->put(numbers());
  EXPECT_EQ(ref.get()[7], 7);
  std::vector<Actor<Reader>> readers;
  for (int i = 0; i < 3; ++i) readers.push_back(cluster->spawn<Reader>());
  for (const auto& reader : readers) {
    EXPECT_EQ(reader.call<&Reader::sum>(ref).get(), kSum);
    EXPECT_TRUE(reader.call<&Reader::copies>(ref).get());
    reader.call<&Reader::keep>(ref).get();
  }
  readers[0].call<&Reader::keep_named>(Named{"mine", ref}).get();
  ref = {};
  for (const auto& reader : readers) EXPECT_EQ(reader.call<&Reader::sum_of_kept>().get(), kSum);
  EXPECT_GT(used(), 0u);
  readers[0].kill();
  readers[1].call<&Reader::let_go>().get();
  readers[2].kill();
  EXPECT_TRUE(is_empty_soon());
}

TEST_F(Objects, AnyValueCanBePutAndIsGivenWhereItIsWanted) {
  auto reader = cluster->spawn<Reader>();
  const std::map<int, std::string> names{{1, "one"}, {2, "two"}};
  const Ref<std::map<int, std::string>> ref = cluster->put(names);
  EXPECT_EQ(ref.get(), names);
  EXPECT_EQ(reader.call<&Reader::count>(ref).get(), 2u);
  EXPECT_EQ(reader.call<&Reader::length>(cluster->put("five!")).get(), 5u);
  EXPECT_EQ(Ref<std::vector<double>>(), Ref<std::vector<double>>());
  EXPECT_THROW(Ref<int>().get(), Exception);
  EXPECT_THROW(cluster->put(Named{"n", cluster->put(numbers())}), Exception);
}

TEST_F(Objects, AResultCanStayWhereItIs) {
  auto reader = cluster->spawn<Reader>(), other = cluster->spawn<Reader>();
  const auto ref = reader.call<&Reader::put>(kLarge).get();
  EXPECT_EQ(other.call<&Reader::sum>(ref).get(), kSum);
  reader.kill();
  EXPECT_TRUE(eventually([&] { return error_of(reader.call<&Reader::pid>()).code == Code::NotSent; }));
  EXPECT_EQ(other.call<&Reader::sum>(ref).get(), kSum) << "its maker is dead, it belongs to the node";
}

TEST_F(Objects, WhatADeadProcessSentIsRead) {
  auto reader = cluster->spawn<Reader>();
  reader.call<&Reader::pid>().get();
  auto caller = cluster->spawn<Caller>();
  EXPECT_EQ(error_of(caller.call<&Caller::send_and_die>(reader, kLarge)).code, Code::MaybeRan);
  ASSERT_TRUE(eventually([&] { return bool(reader.call<&Reader::sum_of_kept>().result()); }));
  EXPECT_EQ(reader.call<&Reader::sum_of_kept>().get(), kLarge);
  reader.kill();
  EXPECT_TRUE(is_empty_soon());
}

TEST_F(Objects, AConstructorsRefIsThereForEachIncarnation) {
  auto holder = cluster->spawn<Holder>({.max_restarts = 3}, cluster->put(numbers()));
  EXPECT_EQ(holder.call<&Holder::first>().get(), 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(error_of(holder.call<&Holder::die>()).code, Code::MaybeRan);
    EXPECT_EQ(holder.call<&Holder::first>().get(), 0);
  }
  holder.kill();
  EXPECT_TRUE(is_empty_soon());
}

class FullStore : public Objects {
 protected:
  FullStore() : Objects(16 << 20) {}
};

TEST_F(FullStore, IsSaidAndCallsGoThroughTheRings) {
  const auto first = cluster->put(std::string(10 << 20, 'x'));
  try {
    cluster->put(std::string(10 << 20, 'y'));
    FAIL() << "there is no room for both";
  } catch (const Exception& e) {
    EXPECT_EQ(e.code(), Code::Unavailable);
    EXPECT_THAT(e.what(), HasSubstr("10 MiB of its 16 MiB are in use"));
  }
  auto reader = cluster->spawn<Reader>();
  EXPECT_EQ(reader.call<&Reader::length>(std::string(17 << 20, 'z')).get(), std::size_t{17} << 20);
}

// Callers that pass references and large arguments are killed at random moments: no method sees other bytes than were
// sent, and when all are gone nothing is left.
TEST_F(Objects, KillsAtRandomLeaveNothing) {
  std::mt19937 random(20261201);
  std::vector<Actor<Reader>> readers{cluster->spawn<Reader>(), cluster->spawn<Reader>()};
  readers[0].call<&Reader::keep>(cluster->put(numbers())).get();  // a passer may die before it has passed one on
  for (int round = 0; round < 15; ++round) {
    auto passer = cluster->spawn<Passer>();
    const int pid = passer.call<&Passer::pid>().get();
    const auto passing = passer.call<&Passer::pass>(cluster->put(numbers()), readers);
    for (std::size_t calls = random() % 60; calls > 0; --calls)
      EXPECT_EQ(readers[calls % 2].call<&Reader::sum>(numbers(10'000)).get(), 49'995'000);
    ::kill(pid, SIGKILL);
    EXPECT_EQ(error_of(passing).code, Code::MaybeRan);
    EXPECT_EQ(readers[0].call<&Reader::sum_of_kept>().get(), kSum);
  }
  for (const auto& reader : readers) reader.call<&Reader::let_go>().get();
  EXPECT_TRUE(is_empty_soon());
}

}  // namespace
}  // namespace rt::testing
