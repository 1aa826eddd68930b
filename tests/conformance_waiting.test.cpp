// Actors that wait for each other and for items of streams, in processes of their own and inline alike.
#include "rt/tests/support/conformance.h"

namespace rt::testing {
namespace {

using namespace conformance;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Waiting = AtEach<PeopleTest>;
INSTANTIATE_TEST_SUITE_P(In, Waiting, ::testing::Values(Where::Processes, Where::Inline), name_of);

// Each hop of the circle is named; where the telling begins is another matter.
TEST_P(Waiting, ActorsThatWaitForEachOtherFailAndNameTheCircle) {
  const auto a = person({.name = "a"}), b = person({.name = "b"}), c = person({.name = "c"});
  a.call<&Person::meet>(b).get();
  b.call<&Person::meet>(c).get();
  c.call<&Person::meet>(a).get();
  const Error error = error_of(a.call<&Person::walk>(3));
  EXPECT_THAT(error.message, AllOf(HasSubstr("these wait for each other, and none could ever go on: actor '"),
                                   HasSubstr("waits for actor 'a' (conformance::Person::walk)"),
                                   HasSubstr("waits for actor 'b' (conformance::Person::walk)"),
                                   HasSubstr("waits for actor 'c' (conformance::Person::walk)")));
  EXPECT_EQ(a.call<&Person::walk>(2).get(), 0) << "they live on";
}

TEST_P(Waiting, AWaitForAllOfSeveralIsInACircleWithEachOfThem) {
  const auto a = person({.name = "a"}), b = person({.name = "b"});
  a.call<&Person::meet>(b).get();
  b.call<&Person::meet>(a).get();
  EXPECT_THAT(error_of(a.call<&Person::wait_for_both>(person())).message,
              AllOf(HasSubstr("waits for actor 'a'"), HasSubstr("waits for actor 'b'")));
}

TEST_P(Waiting, AnActorThatWaitsForItselfFails) {
  const auto self = person({.name = "self"});
  self.call<&Person::meet>(self).get();
  EXPECT_THAT(error_of(self.call<&Person::walk>(1)).message,
              HasSubstr("actor 'self' waits for actor 'self' (conformance::Person::walk)"));
}

TEST_P(Waiting, ACircleThroughACoroutineFails) {
  const auto a = person({.name = "a"}), b = person({.name = "b"});
  a.call<&Person::meet>(b).get();
  b.call<&Person::meet>(a).get();
  EXPECT_THAT(error_of(a.call<&Person::wait_for_gentle_other>()).message,
              AllOf(HasSubstr("waits for actor 'b' (conformance::Person::add_gently)"),
                    HasSubstr("waits for actor 'a' (conformance::Person::add)")));
}

TEST_P(Waiting, StreamsAreReadByDriversAndByCoroutines) {
  const auto one = person(), two = person_who_met(one);
  int expected = 0;
  for (const int number : one.call<&Person::count_to>(500)) ASSERT_EQ(number, expected++);
  EXPECT_EQ(expected, 500);
  EXPECT_EQ(two.call<&Person::sum_of_others>(100).get(), 4950);
  auto throws = one.call<&Person::count_to>(3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(throws.next().get(), i);
  EXPECT_THAT(throws.next().result().error().message, HasSubstr("no fourth"));
  auto killed = one.call<&Person::count_to>(1'000'000'000);
  EXPECT_EQ(killed.next().get(), 0);
  one.kill();
  Result<std::optional<int>> next = killed.next().result();
  while (next) next = killed.next().result();  // what had come before
  EXPECT_EQ(next.error().code, Code::MaybeRan);
}

}  // namespace
}  // namespace rt::testing
