#include "rt/runtime/store/store.h"

#include <future>

#include "rt/runtime/store/store_fixture.h"

namespace rt::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

using StoreObjects = StoreTest;

TEST_F(StoreObjects, AreReadByAnotherProcessWhereTheyLie) {
  const std::string bytes = pattern(3'000'001);
  const Large put_there = put(*driver, bytes);
  const Large seen = actor->find(put_there->id()).get();
  EXPECT_TRUE(seen->bytes() == bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(seen->bytes().data()) % 4096, 0u);
}

TEST_F(StoreObjects, MayBeEmptyOrOneByte) {
  EXPECT_EQ(put(*driver, "")->bytes(), "");
  EXPECT_EQ(put(*driver, "x")->bytes(), "x");
}

TEST_F(StoreObjects, GoWithTheirLastReference) {
  Large first = put(*driver, pattern(100'000));
  const ObjectId id = first->id();
  Large second = actor->find(id).get();
  first.reset();
  EXPECT_TRUE(second->bytes() == pattern(100'000));
  second.reset();
  EXPECT_TRUE(is_empty());
  const auto gone = driver->find(id);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Code::Lost);
}

TEST_F(StoreObjects, AreNotTakenForTheNextOneInTheirPlace) {
  const ObjectId old = put(*driver, "old")->id();
  const Large next = put(*driver, "new");
  ASSERT_EQ(next->id().entry, old.entry);
  EXPECT_FALSE(driver->find(old));
  EXPECT_EQ(driver->find(next->id()).get()->bytes(), "new");
}

TEST_F(StoreObjects, GiveTheirPagesToTheNextOnes) {
  const char* const first = put(*driver, pattern(1 << 20))->bytes().data();
  const std::uint64_t resident = sweeper->resident();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(put(*driver, pattern(1 << 20))->bytes().data(), first);
  EXPECT_EQ(sweeper->resident(), resident);
}

TEST_F(StoreObjects, ThatAreGivenUpLeaveNothing) {
  { const auto draft = driver->draft(1 << 20).get(); }
  EXPECT_TRUE(is_empty());
}

TEST_F(StoreObjects, InAMessageOutliveWhoSentIt) {
  Large sent = put(*driver, "hello");
  const auto passed = driver->pass(*sent, actor->slot());
  ASSERT_TRUE(passed);
  sent.reset();
  sweeper->bury(1);
  const Large received = actor->receive(*passed, driver->slot()).get();
  EXPECT_EQ(received->bytes(), "hello");
}

TEST_F(StoreObjects, InAMessageThatWasNotSentAreTakenBack) {
  Large sent = put(*driver, "hello");
  const auto passed = driver->pass(*sent, actor->slot());
  driver->take_back(*passed, actor->slot());
  EXPECT_FALSE(actor->receive(*passed, driver->slot()));
  sent.reset();
  EXPECT_TRUE(is_empty());
}

TEST_F(StoreObjects, InAMessageAreTakenOnceAndByWhomTheyAreFor) {
  const Large sent = put(*driver, "hello");
  const auto stranger = enter(3);
  const auto passed = driver->pass(*sent, actor->slot());
  EXPECT_FALSE(stranger->receive(*passed, driver->slot()));
  EXPECT_TRUE(actor->receive(*passed, driver->slot()));
  EXPECT_FALSE(actor->receive(*passed, driver->slot()));
}

TEST_F(StoreObjects, AreNotFoundByNumbersThatMakeNoSense) {
  const Large sent = put(*driver, "hello");
  const auto passed = driver->pass(*sent, actor->slot());
  for (PassedObject wrong :
       {PassedObject{{passed->id.generation, 0, UINT32_MAX}, 0, 0},
        PassedObject{{passed->id.generation + 1, 0, passed->id.entry}, 0, 0}, PassedObject{passed->id, UINT32_MAX, 0},
        PassedObject{passed->id, 0, UINT32_MAX}, PassedObject{passed->id, passed->at_entry, passed->at_word + 1}})
    EXPECT_FALSE(actor->receive(wrong, driver->slot()));
  EXPECT_TRUE(actor->receive(*passed, driver->slot()));
}

TEST_F(StoreObjects, HaveAsManyHoldersAsWantThem) {
  Large first = put(*driver, "shared");
  const ObjectId id = first->id();
  std::vector<Large> holders;
  for (int i = 0; i < 1000; ++i) holders.push_back(actor->find(id).get());
  first.reset();
  for (std::size_t i = 0; i < holders.size(); i += 2) holders[i].reset();
  EXPECT_EQ(actor->find(id).get()->bytes(), "shared");
  holders.clear();
  EXPECT_TRUE(is_empty());
}

TEST_F(StoreObjects, WaitForRoomUntilThereIs) {
  Large first = put(*driver, pattern(10 << 20));
  auto next = std::async(std::launch::async, [&] { return actor->draft(10 << 20, 30s); });
  first.reset();
  EXPECT_TRUE(next.get());
}

TEST_F(StoreObjects, ThatFindNoRoomSayWhatIsFull) {
  const Large first = put(*driver, pattern(10 << 20));
  const auto next = actor->draft(10 << 20, 1ms);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, Code::Unavailable);
  EXPECT_THAT(next.error().message, HasSubstr("no room for an object of 10 MiB in the node's object store: 10 MiB of "
                                              "its 16 MiB are in use"));
}

TEST_F(StoreObjects, LargerThanTheStoreAreRefusedAtOnce) {
  const auto next = driver->draft(17 << 20);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, Code::Invalid);
}

TEST_F(StoreObjects, FillItToTheLastBlockInAnyOrder) {
  std::vector<Large> objects;
  while (true) {
    auto draft = driver->draft(store::kBlock, 0ms);
    if (!draft) break;
    objects.push_back(std::move(*draft).seal());
  }
  EXPECT_EQ(objects.size() * store::kBlock, driver->capacity());
  for (std::size_t i = 0; i < objects.size(); i += 2) objects[i].reset();
  EXPECT_FALSE(driver->draft(2 * store::kBlock, 0ms)) << "no two in a row are free";
  for (std::size_t i = 0; i < objects.size(); i += 2) objects[i] = put(*driver, "x");
  objects.clear();
  EXPECT_TRUE(driver->draft(driver->capacity(), 0ms));
}

// The system's memory is asked for before a page is touched: an error, and no SIGBUS, nor an end by the kernel.
TEST(StoreMemory, ThatTheMachineDoesNotHaveIsAnErrorInWords) {
  const std::uint64_t available = store::available_memory();
  const auto sweeper = store::Sweeper::make(2 * available).get();
  const auto store = Store::open(sweeper->path(), sweeper->enter(1), 0).get();
  const auto draft = store->draft(available + (1 << 30));
  ASSERT_FALSE(draft);
  EXPECT_EQ(draft.error().code, Code::NoSpace);
  EXPECT_THAT(draft.error().message, HasSubstr("more memory for the node's object store: the machine has"));
  EXPECT_EQ(sweeper->objects(), 0u);
  EXPECT_TRUE(store->draft(1 << 20));
}

TEST(StoreMemory, OfAnotherKindIsRefused) {
  EXPECT_EQ(store::Memory::open("/proc/self/exe").error().code, Code::System);  // not writable: text file busy
  const Fd other = make_shared_memory("no-store", 8192).get();
  const auto opened = store::Memory::open("/proc/self/fd/" + std::to_string(other.get()));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::Refused);
}

}  // namespace
}  // namespace rt::testing
