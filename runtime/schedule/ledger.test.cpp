#include "rt/runtime/schedule/ledger.h"

#include <gtest/gtest.h>

namespace rt {
namespace {

NodeResources node(int cpus, int gpus = 0, const std::string& name = "n") {
  NodeResources resources{.name = name};
  for (int i = 0; i < cpus; ++i) resources.cores.push_back(i);
  for (int i = 0; i < gpus; ++i) resources.gpus.push_back(name + "-gpu-" + std::to_string(i));
  return resources;
}

TEST(Ledger, GivesNoCoreToTwoLeases) {
  Ledger ledger;
  ledger.add_node(1, node(3));
  const auto first = ledger.place(1, {.size = 1, .cpus = 2});
  EXPECT_EQ(first->at(0).cores, (std::vector{0, 1}));
  EXPECT_FALSE(ledger.place(2, {.size = 1, .cpus = 2}));
  EXPECT_EQ(ledger.place(3, {.size = 1, .cpus = 1})->at(0).cores, std::vector{2});
}

TEST(Ledger, PlacesAGangAllOrNothing) {
  Ledger ledger;
  ledger.add_node(1, node(1));
  ledger.add_node(2, node(1));
  EXPECT_FALSE(ledger.place(1, {.size = 3, .cpus = 1}));
  EXPECT_EQ(ledger.totals().free_cpus, 2u);
  EXPECT_TRUE(ledger.place(1, {.size = 2, .cpus = 1}));
  EXPECT_EQ(ledger.totals().free_cpus, 0u);
}

TEST(Ledger, TakesTheFewestNodesAndFillsTheTightestOne) {
  Ledger ledger;
  ledger.add_node(1, node(8));
  ledger.add_node(2, node(4));
  ledger.add_node(3, node(2));
  const auto four = ledger.place(1, {.size = 4, .cpus = 1});
  for (const auto& place : *four) EXPECT_EQ(place.node, 2u);
  const auto nine = ledger.place(2, {.size = 9, .cpus = 1});
  EXPECT_EQ(std::count_if(nine->begin(), nine->end(), [](auto& p) { return p.node == 1; }), 8);
}

TEST(Ledger, PutsAtMostTheNodesGpusOnANode) {
  Ledger ledger;
  ledger.add_node(1, node(64, 3, "a"));
  ledger.add_node(2, node(64, 3, "b"));
  const auto gang = ledger.place(1, {.size = 5, .cpus = 1, .gpus = 1});
  EXPECT_EQ(std::count_if(gang->begin(), gang->end(), [](auto& p) { return p.node == 1; }), 3);
  EXPECT_EQ(ledger.totals().free_gpus, 1u);
}

TEST(Ledger, GivesALeaseBackWhole) {
  Ledger ledger;
  ledger.add_node(1, node(4, 1));
  ledger.place(7, {.size = 1, .cpus = 4, .gpus = 1});
  ledger.release(7);
  EXPECT_EQ(ledger.totals().free_cpus, 4u);
  EXPECT_EQ(ledger.place(8, {.size = 4, .cpus = 1})->at(3).cores, std::vector{3});
}

TEST(Ledger, SaysWhatTheClusterLacks) {
  Ledger ledger;
  ledger.add_node(1, node(2));
  EXPECT_TRUE(ledger.check_possible({.size = 2, .cpus = 1}));
  const Status refused = ledger.check_possible({.size = 1, .cpus = 1, .gpus = 3});
  EXPECT_EQ(refused.error().code, Code::Invalid);
  EXPECT_NE(refused.error().message.find("0 GPUs"), std::string::npos);
}

TEST(Ledger, GivesMemoryAndWhatTheUserNamedToAsManyAsTheyHold) {
  Ledger ledger;
  NodeResources with = node(8);
  with.memory = 10;
  with.custom["licence"] = 1;
  ledger.add_node(1, with);
  EXPECT_TRUE(ledger.place(1, {.cpus = 0, .memory = 6}));
  EXPECT_EQ(ledger.totals().free_memory, 4u);
  EXPECT_FALSE(ledger.place(2, {.cpus = 0, .memory = 6}));
  EXPECT_TRUE(ledger.place(3, {.cpus = 0, .custom = {{"licence", 1}}}));
  EXPECT_FALSE(ledger.place(4, {.cpus = 0, .custom = {{"licence", 1}}}));
  ledger.release(1);
  ledger.release(3);
  EXPECT_TRUE(ledger.place(5, {.cpus = 0, .memory = 10, .custom = {{"licence", 1}}}));
}

TEST(Ledger, SaysWhatTheClosestNodeLacks) {
  Ledger ledger;
  NodeResources small = node(2, 0, "small"), large = node(8, 0, "large");
  small.memory = large.memory = std::uint64_t{16} << 30;
  ledger.add_node(1, small);
  ledger.add_node(2, large);
  const auto refused = [&](const GangRequest& request) { return ledger.check_possible(request).error().message; };
  EXPECT_EQ(refused({.cpus = 4, .memory = std::uint64_t{64} << 30}),
            "1 x (4 CPUs, 0 GPUs, 64.0 GiB memory) can never be placed: the cluster has 10 CPU slots and 0 GPUs on 2 "
            "node(s), room for 0 of the 1; the closest node, large (8 CPUs, 0 GPUs, 16.0 GiB memory), lacks 48.0 GiB "
            "memory");
  EXPECT_NE(refused({.cpus = 10, .custom = {{"licence", 2}}})
                .find("large (8 CPUs, 0 GPUs, 16.0 GiB memory), lacks 2 "
                      "CPUs and 2 licence"),
            std::string::npos);
  EXPECT_EQ(refused({.size = 9, .cpus = 2}).find("closest"), std::string::npos) << "each bundle fits somewhere";
}

TEST(Ledger, ForgetsALostNodesPartOfALease) {
  Ledger ledger;
  ledger.add_node(1, node(1));
  ledger.add_node(2, node(1));
  ledger.place(1, {.size = 2, .cpus = 1});
  ledger.remove_node(1);
  ledger.release(1);
  EXPECT_EQ(ledger.totals().free_cpus, 1u);
}

}  // namespace
}  // namespace rt
