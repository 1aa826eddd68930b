#include "rt/actors/collective/store.h"

#include <gtest/gtest.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

namespace rt::train {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

class StoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<KeyValue> values = key_value_over(c10::make_intrusive<c10d::HashStore>());
  c10::intrusive_ptr<c10d::Store> store = store_over(*values, "gang/", 20ms);
};

TEST_F(StoreTest, KeepsBytesThatAreNoText) {
  const Bytes bytes{0, 255, 10, 0};
  store->set("blob", bytes);
  EXPECT_EQ(store->get("blob"), bytes);
}

TEST_F(StoreTest, PutsItsPrefixBeforeEachKey) {
  store->set("key", std::string("value"));
  EXPECT_EQ(*values->get("gang/key", 20ms), "value");
}

TEST_F(StoreTest, EndsAWaitAtItsTimeoutAsC10dExpects) {
  EXPECT_THROW(store->get("absent"), c10::DistStoreError);
  EXPECT_THROW(store->wait({"absent"}, 1ms), c10::DistStoreError);
}

TEST_F(StoreTest, CountsFromZero) {
  EXPECT_EQ(store->add("ranks", 1), 1);
  EXPECT_EQ(store->add("ranks", 2), 3);
}

TEST_F(StoreTest, SetsOnlyWhatWasExpected) {
  EXPECT_EQ(store->compareSet("leader", "", "0"), "0");
  EXPECT_EQ(store->compareSet("leader", "1", "2"), "0");
  EXPECT_EQ(store->compareSet("leader", "0", "1"), "1");
}

TEST_F(StoreTest, ForgetsADeletedKeyAndSaysWhetherItWasThere) {
  store->set("key", std::string("value"));
  EXPECT_TRUE(store->check({"key"}));
  EXPECT_TRUE(store->deleteKey("key"));
  EXPECT_FALSE(store->deleteKey("key"));
  EXPECT_FALSE(store->check({"key"}));
}

}  // namespace
}  // namespace rt::train
