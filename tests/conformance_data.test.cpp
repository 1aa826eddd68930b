// Large values, references and tasks, as they are in processes of their own and inline alike.
#include "rt/tests/support/conformance_data.h"

namespace rt::testing {
namespace {

using namespace std::chrono_literals;
using namespace conformance;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kLarge = 100'000;                           // elements
constexpr double kSum = double(kLarge) * double(kLarge - 1) / 2;  // of 0, 1, 2, ...

// --- large values and references ---------------------------------------------------------------------------------

class ObjectsTest : public ClusterTest {
 protected:
  ObjectsTest() : ClusterTest({.cpus = 4, .object_store = 16 << 20, .name_space = "test"}) {}
  Actor<Reader> reader(const SpawnOptions& options = {}) { return cluster->spawn<Reader>(options); }
  std::uint64_t used() { return cluster->client().large()->used(); }
  // What was sent before the question has arrived with its answer.
  bool is_empty_soon() {
    return eventually([&] { return cluster->totals() && used() == 0; });
  }
};
using Objects = AtEach<ObjectsTest>;
INSTANTIATE_TEST_SUITE_P(In, Objects, ::testing::Values(Where::Processes, Where::Inline), name_of);

TEST_P(Objects, LargeArgumentsAndResultsAreWhatWasSentWhateverTheTypeTheyAreTakenAs) {
  const auto one = reader();
  EXPECT_EQ(one.call<&Reader::sum>(numbers(kLarge)).get(), kSum);
  EXPECT_EQ(one.call<&Reader::sum_of_copy>(numbers(kLarge)).get(), kSum);
  EXPECT_EQ(one.call<&Reader::sum>(numbers(4)).get(), 6);
  EXPECT_EQ(one.call<&Reader::length>(std::string(1 << 20, 'x')).get(), std::size_t{1} << 20);
  EXPECT_EQ(one.call<&Reader::make>(kLarge).get(), numbers(kLarge));
  const View<double> view = one.call<&Reader::make_view>(kLarge).get();
  EXPECT_EQ(std::vector<double>(view.begin(), view.end()), numbers(kLarge));
}

TEST_P(Objects, AnArgumentIsNotItsCallersMemory) {
  auto values = numbers(kLarge);
  const auto sum = reader().call<&Reader::sum>(values);
  values.assign(kLarge, 0.0);
  EXPECT_EQ(sum.get(), kSum);
}

TEST_P(Objects, AViewLivesAsLongAsACoroutine) {
  const auto one = reader(), other = reader();
  EXPECT_EQ(one.call<&Reader::sum_gently>(numbers(kLarge), other).get(), kSum + 45);
}

TEST_P(Objects, ARefIsReadByAllThatHaveItAlsoWithinAStruct) {
  auto ref = cluster->put(numbers(kLarge));
  const auto a = reader(), b = reader();
  EXPECT_EQ(a.call<&Reader::sum>(ref).get(), kSum);
  EXPECT_EQ(a.call<&Reader::sum_of_copy>(ref).get(), kSum);
  a.call<&Reader::keep>(ref).get();
  b.call<&Reader::keep_named>(Named{"mine", ref}).get();
  ref = {};
  EXPECT_EQ(a.call<&Reader::sum_of_kept>().get() + b.call<&Reader::sum_of_kept>().get(), 2 * kSum);
  EXPECT_GT(used(), 0u);
  a.kill();
  b.call<&Reader::let_go>().get();
  EXPECT_TRUE(is_empty_soon());
}

TEST_P(Objects, AResultCanStayWhereItIsAndOutlivesItsMaker) {
  const auto maker = reader(), other = reader();
  const auto ref = maker.call<&Reader::put>(kLarge).get();
  Watch watch = rt::watch(maker);
  maker.kill();
  watch.next(kLimit).get();
  EXPECT_EQ(other.call<&Reader::sum>(ref).get(), kSum);
  EXPECT_EQ(ref.get()[7], 7);
}

TEST_P(Objects, AnyValueCanBePutButNotWhatRefersToAnother) {
  const std::map<int, std::string> names{{1, "one"}, {2, "two"}};
  EXPECT_EQ(cluster->put(names).get(), names);
  EXPECT_EQ(reader().call<&Reader::length>(cluster->put("five!")).get(), 5u);
  EXPECT_THROW(Ref<int>().get(), Exception);
  EXPECT_THROW(cluster->put(Named{"n", cluster->put(numbers(9))}), Exception);
}

TEST_P(Objects, AConstructorsRefIsThereForEachIncarnation) {
  const auto holder =
      cluster->spawn<Holder>({.max_restarts = 3, .restart_delay = 1ms}, cluster->put(numbers(kLarge)), 2u);
  Watch watch = rt::watch(holder);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(watch.next(kLimit)->will_restart);
  EXPECT_THAT(holder.call<&Holder::facts>().result(kLimit).get(), ElementsAre(3, kSum));
  holder.kill();
  EXPECT_TRUE(is_empty_soon());
}

TEST_P(Objects, WhatACallThatNeverRanCarriedIsLetGo) {
  const auto one = reader();
  const auto held = one.call<&Reader::wait_for_key>("never");
  std::vector<Future<double>> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(one.call<&Reader::sum>(numbers(kLarge)));
  EXPECT_FALSE(calls[2].result(1ms));
  one.kill();
  for (const auto& call : calls) EXPECT_FALSE(call.result(kLimit));
  EXPECT_TRUE(is_empty_soon());
}

TEST_P(Objects, AFullStoreIsSaidAndCallsGoOnWithoutIt) {
  const auto first = cluster->put(std::string(10 << 20, 'x'));
  try {
    cluster->put(std::string(10 << 20, 'y'));
    FAIL() << "there is no room for both";
  } catch (const Exception& e) {
    EXPECT_EQ(e.code(), Code::Unavailable);
    EXPECT_THAT(e.what(), HasSubstr("10 MiB of its 16 MiB are in use"));
  }
  try {
    cluster->put(std::string(17 << 20, 'z'));
    FAIL() << "it is larger than the store";
  } catch (const Exception& e) {
    EXPECT_EQ(e.code(), Code::Invalid);
  }
  EXPECT_EQ(reader().call<&Reader::length>(std::string(17 << 20, 'z')).get(), std::size_t{17} << 20);
}

TEST_P(Objects, OneThatIsGoneIsLostInWords) {
  Encoder kept_as_bytes;
  encode(kept_as_bytes, cluster->put(numbers(kLarge)));
  const std::string bytes = kept_as_bytes.take();
  kept_as_bytes.clear();
  Decoder from(bytes, &cluster->client());
  try {
    decode<Ref<std::vector<double>>>(from);
    FAIL() << "nothing held it";
  } catch (const Exception& e) {
    EXPECT_EQ(e.code(), Code::Lost);
    EXPECT_THAT(e.what(), HasSubstr("is gone: nothing held a reference to it any more"));
  }
}

// --- tasks -------------------------------------------------------------------------------------------------------

template <int kCpus>
class TasksOn : public ClusterTest {
 protected:
  TasksOn() : ClusterTest({.cpus = kCpus, .simulate_gpus = 1, .name_space = "test"}) {}
};
using Tasks = AtEach<TasksOn<2>>;
using OnOneSlot = AtEach<TasksOn<1>>;
INSTANTIATE_TEST_SUITE_P(In, Tasks, ::testing::Values(Where::Processes, Where::Inline), name_of);
INSTANTIATE_TEST_SUITE_P(In, OnOneSlot, ::testing::Values(Where::Processes, Where::Inline), name_of);

TEST_P(Tasks, RunAndReturn) {
  std::vector<Future<int>> answers;
  for (int i = 0; i < 300; ++i) answers.push_back(cluster->run<&add>(i, i));
  for (int i = 0; i < 300; ++i) EXPECT_EQ(answers[static_cast<std::size_t>(i)].get(), 2 * i);
}

TEST_P(Tasks, AnExceptionComesWithItsType) {
  try {
    cluster->run<&fail>("too far").get();
    FAIL();
  } catch (const CallFailed& e) {
    EXPECT_EQ(e.thrown().type, "std::out_of_range");
    EXPECT_EQ(e.thrown().text, "too far");
  }
}

TEST_P(Tasks, BeginWhenTheirArgumentsAreThereAndFailWithThem) {
  EXPECT_EQ(cluster->run<&sum>(cluster->run<&numbers>(kLarge)).get(), kSum);
  EXPECT_EQ(cluster->run<&sum>(cluster->run<&put_numbers>(kLarge)).get(), kSum);
  EXPECT_EQ(cluster->run<&sum>(cluster->put(numbers(10))).get(), 45);
  const auto three = cluster->run<&add>(1, 2);
  EXPECT_EQ(cluster->run<&add>(three, three).get(), 6);
  const Error error = error_of(cluster->run<&add>(cluster->run<&fail_to_count>("why"), 1));
  EXPECT_THAT(error.message, AllOf(HasSubstr("a task's argument failed"), HasSubstr("why")));
  EXPECT_TRUE(eventually([&] { return cluster->totals() && cluster->client().large()->used() == 0; }));
}

TEST_P(Tasks, RunTasksAndWaitForThem) { EXPECT_EQ(cluster->run<&fib>(8).get(), 21); }

TEST_P(OnOneSlot, WaitForTheTasksThatTheyStartedTwentyDeep) { EXPECT_EQ(cluster->run<&depth>(20).get(), 20); }

TEST_P(OnOneSlot, WaitForTheTasksThatTheyStartedAsACoroutineToo) { EXPECT_EQ(cluster->run<&depth_gently>(5).get(), 5); }

TEST_P(OnOneSlot, GiveTheSlotBackWhenTheyAreIdleAndGetItAgain) {
  EXPECT_EQ(cluster->run<&add>(1, 1).get(), 2);
  const auto one = cluster->spawn<Reader>({.cpus = 1});
  EXPECT_EQ(one.call<&Reader::sum>(numbers(3)).result(kLimit).get(), 3);
  const auto waits = cluster->run<&add>(1, 1);
  EXPECT_FALSE(waits.result(1ms));
  one.kill();
  EXPECT_EQ(waits.result(kLimit).get(), 2);
}

TEST_P(Tasks, AreRunByActorsWhichMayEnd) {
  const auto one = cluster->spawn<Reader>();
  EXPECT_EQ(one.call<&Reader::add_elsewhere>(20, 3).get(), 23);
  one.kill();
  EXPECT_EQ(cluster->run<&add>(1, 1).get(), 2);
}

TEST_P(OnOneSlot, OfACallerThatDiedEnd) {
  const auto one = cluster->spawn<Reader>();
  const auto held = one.call<&Reader::wait_elsewhere>("begun", "never");
  cluster->spawn<Reader>().call<&Reader::wait_for_key>("begun").result(kLimit).get();
  one.kill();
  EXPECT_EQ(cluster->run<&add>(1, 1).result(kLimit).get(), 2);
}

TEST_P(OnOneSlot, EndByTheirDeadlineOrAreCancelledWhereTheyWaitForASlot) {
  const auto holds = cluster->run<&wait_for_key>("begun", "go");
  const auto late = cluster->tasks({.deadline = 50ms}).run<&add>(1, 1);
  EXPECT_EQ(error_of(late).code, Code::Deadline);
  const auto given_up = cluster->run<&add>(1, 1);
  given_up.cancel();
  EXPECT_EQ(error_of(given_up).code, Code::Cancelled);
  cluster->spawn<Reader>().call<&Reader::set_key>("go").get();
  EXPECT_EQ(holds.result(kLimit).get(), 1);
}

TEST_P(Tasks, ThatAreTooLargeForTheClusterAreRefused) {
  EXPECT_THAT(error_of(cluster->tasks({.cpus = 3}).run<&add>(1, 1)).message, HasSubstr("can never be placed"));
}

TEST_P(Tasks, HoldAGpuWhileTheyRunAndGiveItBack) {
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(cluster->tasks({.gpus = 1}).run<&gpus>().result(kLimit).get(), ElementsAre("simulated-0"));
  EXPECT_TRUE(cluster->run<&gpus>().get().empty());
}

// Their workers are killed while they run: each future ends, and right.
TEST_P(Tasks, RunAgainWhereTheirWorkerIsKilledIfTheyMay) {
  const auto again = cluster->tasks({.retries = 20}).run<&wait_for_key>("runs", "go");
  cluster->spawn<Reader>().call<&Reader::wait_for_key>("runs").result(kLimit).get();
  std::vector<Future<int>> answers;
  for (int i = 0; i < 50; ++i) answers.push_back(cluster->tasks({.retries = 20}).run<&add>(i, i));
  for (const ActorFacts& actor : cluster->list_actors().get())
    if (actor.class_name.find("TaskWorker") != std::string::npos) Actor<Reader>(&cluster->client(), actor.id).kill();
  cluster->spawn<Reader>().call<&Reader::set_key>("go").get();
  EXPECT_EQ(again.result(kLimit).get(), 1);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(answers[static_cast<std::size_t>(i)].result(kLimit).get(), 2 * i);
}

}  // namespace
}  // namespace rt::testing
