#include "rt/runtime/base/thread_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "rt/runtime/base/symbols.h"

namespace rt {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::vector<std::string> functions_of(const ThreadStack& stack) {
  Symbols symbols;
  std::vector<std::string> names;
  for (const std::uint64_t address : stack.addresses) names.push_back(symbols.at(address).name);
  return names;
}

// The loops are found by their names.
[[gnu::noinline]] void look_for_ever(const std::atomic<bool>& is_over) {
  while (!is_over.load(std::memory_order_relaxed)) {
  }
}
[[gnu::noinline]] void allocate_for_ever(const std::atomic<bool>& is_over) {
  while (!is_over.load(std::memory_order_relaxed)) {
    std::vector<std::string> strings(20, std::string(100, 'x'));
    std::sort(strings.begin(), strings.end());
  }
}

class ThreadStacks : public ::testing::Test {
 protected:
  template <class Loop>
  void start(Loop loop) {
    threads_.emplace_back([this, loop] {
      ++running_;
      loop(is_over_);
    });
    while (running_ < static_cast<int>(threads_.size())) std::this_thread::yield();
  }
  ~ThreadStacks() override {
    is_over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  std::vector<std::thread> threads_;
  std::atomic<int> running_{0};
  std::atomic<bool> is_over_{false};
};

TEST_F(ThreadStacks, AreOfEachThreadAlsoOneThatLoopsForEver) {
  start(look_for_ever);
  const auto stacks = thread_stacks();
  ASSERT_TRUE(stacks) << stacks.error().message;
  ASSERT_EQ(stacks->size(), 2u);
  EXPECT_THAT(functions_of(stacks->at(0)), Contains(HasSubstr("AreOfEachThread")));
  EXPECT_THAT(functions_of(stacks->at(1)), Contains(HasSubstr("look_for_ever")));
}

TEST_F(ThreadStacks, AreTakenAThousandTimesWhileThreadsAllocateAndThrow) {
  start(allocate_for_ever);
  start([](const std::atomic<bool>& is_over) {
    while (!is_over) try {
        throw std::runtime_error("again");
      } catch (const std::exception&) {
      }
  });
  int answered = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto stacks = thread_stacks();
    ASSERT_EQ(stacks->size(), 3u);
    for (const ThreadStack& stack : *stacks) answered += stack.addresses.size() > 1;
  }
  EXPECT_EQ(answered, 3000);
}

TEST_F(ThreadStacks, OneThatBlocksTheSignalIsSaidToAndTheNextRequestIsAnsweredAgain) {
  std::atomic<bool> is_blocked{true}, is_open{false};
  start([&](const std::atomic<bool>& is_over) {
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    pthread_sigmask(SIG_BLOCK, &urgent, nullptr);
    is_blocked = true;
    while (!is_open) std::this_thread::yield();
    pthread_sigmask(SIG_UNBLOCK, &urgent, nullptr);
    is_blocked = false;
    look_for_ever(is_over);
  });
  while (thread_stacks(std::chrono::milliseconds(1))->at(1).problem.empty()) std::this_thread::yield();
  EXPECT_THAT(thread_stacks(std::chrono::milliseconds(1))->at(1).problem, HasSubstr("it blocks SIGURG"));
  is_open = true;
  while (is_blocked) std::this_thread::yield();
  EXPECT_THAT(functions_of(thread_stacks()->at(1)), Contains(HasSubstr("look_for_ever")));
}

TEST_F(ThreadStacks, AProgramThatHandlesTheSignalItselfKeepsIt) {
  ::signal(SIGURG, [](int) {});
  const auto stacks = thread_stacks();
  ::signal(SIGURG, SIG_DFL);
  ASSERT_FALSE(stacks);
  EXPECT_EQ(stacks.error().code, Code::Refused);
}

TEST(SymbolsTest, NameFunctionsOfTheProgramAndOfLibraries) {
  Symbols symbols;
  EXPECT_THAT(symbols.at(reinterpret_cast<std::uint64_t>(&look_for_ever)).name, HasSubstr("look_for_ever"));
  EXPECT_THAT(symbols.at(reinterpret_cast<std::uint64_t>(&std::strlen)).module, HasSubstr("libc.so"));
  EXPECT_EQ(symbols.at(1).name, "");
}

}  // namespace
}  // namespace rt
