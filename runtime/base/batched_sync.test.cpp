#include "rt/runtime/base/batched_sync.h"

#include <gtest/gtest.h>

#include <future>

namespace rt {
namespace {

using namespace std::chrono_literals;

TEST(BatchedSync, SyncsAfterAWrite) {
  std::promise<void> synced;
  std::atomic<bool> is_first = true;
  BatchedSync sync(0ms, [&]() -> Status {
    if (is_first.exchange(false)) synced.set_value();
    return Unit{};
  });
  sync.start();
  sync.note_write();
  synced.get_future().wait();
  EXPECT_FALSE(sync.take_error());
}

TEST(BatchedSync, DoesNothingWithoutAWrite) {
  int syncs = 0;
  {
    BatchedSync sync(0ms, [&]() -> Status { return ++syncs, Unit{}; });
    sync.start();
  }
  EXPECT_EQ(syncs, 0);
}

TEST(BatchedSync, MakesOneLastSyncOfAllWritesOfTheInterval) {
  int syncs = 0;
  {
    BatchedSync sync(1h, [&]() -> Status { return ++syncs, Unit{}; });
    sync.start();
    for (int i = 0; i < 1000; ++i) sync.note_write();
  }
  EXPECT_EQ(syncs, 1);
}

TEST(BatchedSync, KeepsAFailureForItsOwnerAndTriesAgain) {
  std::promise<void> second;
  int syncs = 0;
  BatchedSync sync(0ms, [&]() -> Status {
    if (++syncs == 2) second.set_value();
    if (syncs < 2) return Error{Code::System, "disk full"};
    return Unit{};
  });
  sync.start();
  sync.note_write();
  second.get_future().wait();
  EXPECT_EQ(sync.take_error(), (Error{Code::System, "disk full"}));
  EXPECT_FALSE(sync.take_error());
}

}  // namespace
}  // namespace rt
