#include "rt/actors/future.h"

#include <gtest/gtest.h>

#include <thread>

#include "rt/actors/io_thread.h"

namespace rt {
namespace {

using namespace std::chrono_literals;

std::string encoded(int value) {
  Encoder to;
  encode(to, value);
  return to.take();
}

class FutureTest : public ::testing::Test {
 protected:
  detail::IoThread io;
  std::shared_ptr<detail::CallState> state = std::make_shared<detail::CallState>(io.poller());
  Future<int> future{state};
};

TEST_F(FutureTest, WaitsForItsValueAndKeepsIt) {
  EXPECT_FALSE(future.ready());
  std::thread later([&] { state->complete(encoded(15)); });
  EXPECT_EQ(future.get(), 15);
  later.join();
  EXPECT_TRUE(future.ready());
  EXPECT_EQ(Future<int>(future).get(), 15);
}

TEST_F(FutureTest, TellsWhatWentWrong) {
  state->fail(Error{Code::MaybeRan, "the actor died"});
  EXPECT_EQ(future.result().error(), (Error{Code::MaybeRan, "the actor died"}));
  try {
    future.get();
    FAIL();
  } catch (const Exception& e) {
    EXPECT_EQ(e.code(), Code::MaybeRan);
    EXPECT_STREQ(e.what(), "the actor died");
  }
}

TEST_F(FutureTest, IsCompletedOnce) {
  state->complete(encoded(1));
  state->fail(Error{Code::MaybeRan, "too late"});
  EXPECT_EQ(future.get(), 1);
}

TEST_F(FutureTest, ALimitThatIsOverEndsTheWaitAndNotTheCall) {
  EXPECT_EQ(future.result(0ms).error().code, Code::Deadline);
  state->complete(encoded(2));
  EXPECT_EQ(future.result(0ms).get(), 2);
}

TEST_F(FutureTest, ContinuationsRunOnceWhetherTheyCameBeforeOrAfter) {
  std::vector<int> got;
  std::atomic<bool> has_run{false};
  future.then([&](const Result<int>& value) {
    got.push_back(*value);
    has_run = true;
  });
  EXPECT_TRUE(got.empty());
  state->complete(encoded(3));
  while (!has_run) std::this_thread::yield();  // the I/O thread runs it
  future.then([&](const Result<int>& value) { got.push_back(*value + 1); });
  EXPECT_EQ(got, (std::vector<int>{3, 4}));
}

TEST_F(FutureTest, BytesThatAreNotTheResultsTypeAreCorrupt) {
  state->complete(std::string("x"));
  EXPECT_EQ(future.result().error().code, Code::Corrupt);
}

TEST(FutureOfNothing, IsUnitWhateverTheBytes) {
  detail::IoThread io;
  const auto state = std::make_shared<detail::CallState>(io.poller());
  state->complete(std::string());
  EXPECT_TRUE(Future<Unit>(state).result());
}

}  // namespace
}  // namespace rt
