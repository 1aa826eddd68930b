#include "rt/tune/split_mix.h"

#include <gtest/gtest.h>

#include <set>

namespace rt::tune {
namespace {

// The first numbers of Vigna's splitmix64.c from the state 1234567.
TEST(SplitMix, GivesTheNumbersOfItsReference) {
  SplitMix stream(1234567);
  for (const std::uint64_t expected :
       {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u, 16408922859458223821u})
    EXPECT_EQ(stream.next(), expected);
}

TEST(SplitMix, StreamsOfNeighbouringSeedsAndIndicesDiffer) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (std::uint64_t index = 0; index < 100; ++index) firsts.insert(SplitMix::of(seed, index).next());
  EXPECT_EQ(firsts.size(), 10'000u);
}

}  // namespace
}  // namespace rt::tune
