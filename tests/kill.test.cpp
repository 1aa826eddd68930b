// kill -9 of any process at every kind of record and every stage of a checkpoint: `rtctl tune --resume` finishes the
// sweep, and its results, decisions and checkpoints equal the undisturbed run's to the bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <random>
#include <regex>
#include <set>

#include "rt/tests/support/walk_sweep.h"
#include "rt/tune/record_kinds.h"

namespace rt::testing {
namespace {

using ::testing::HasSubstr;

enum class During { Sweep, Stop, Resume };                 // what is under way when the point is passed
enum class Then { RunDies, RunGoesOn, RunSaysHowToGoOn };  // what becomes of the rtctl that runs it

struct Case {
  std::string point;
  int pass = 1;
  std::string program = "rtctl";
  During during = During::Sweep;
  Then then = Then::RunDies;
};

// A kind of record with the pass that lies in the middle of the sweep.
std::vector<Case> record_cases() {
  const std::vector<std::tuple<std::string, int, During>> kinds{
      {"SweepStarted", 1, During::Sweep},      {"Resumed", 1, During::Resume},
      {"TrialCreated", 3, During::Sweep},      {"GenerationStarted", 3, During::Sweep},
      {"Reported", 8, During::Sweep},          {"Checkpointed", 1, During::Stop},
      {"RankFailed", 1, During::Sweep},        {"TrialEnded", 2, During::Sweep},
      {"CheckpointDropped", 2, During::Sweep}, {"Interrupted", 1, During::Stop},
      {"SweepEnded", 1, During::Sweep}};
  std::vector<Case> cases;
  for (const auto& [kind, pass, during] : kinds)
    for (const char* when : {"before", "after"})
      cases.push_back({"tune." + std::string(when) + "." + kind, pass, "rtctl", during});
  return cases;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = record_cases();
  for (const Case& more : std::vector<Case>{
           {"tune.replayed", 1, "rtctl", During::Resume},
           {"journal.append.before", 9},
           {"journal.append.torn", 9},
           {"journal.append.torn", 2, "rtctl", During::Resume},
           {"journal.append.after", 9},
           {"journal.rotate.after_create", 1},
           {"journal.rotate.after_create", 1, "rtctl", During::Resume},
           {"checkpoint.prepared", 4},
           {"checkpoint.before_rename", 4},
           {"checkpoint.after_rename", 4},
           {"checkpoint.before_drop", 2},
           {"rank.step.before", 3, "walk", During::Sweep, Then::RunGoesOn},
           {"rank.step.after", 3, "walk", During::Sweep, Then::RunGoesOn},
           {"rank.save.before", 2, "walk", During::Sweep, Then::RunGoesOn},
           {"checkpoint.file", 2, "walk", During::Sweep, Then::RunGoesOn},
           {"checkpoint.before_manifest", 2, "walk", During::Sweep, Then::RunGoesOn},
           {"checkpoint.after_manifest", 2, "walk", During::Sweep, Then::RunGoesOn},
           {"rank.save.after", 2, "walk", During::Sweep, Then::RunGoesOn},
           {"fork_server.before_fork", 2, "walk", During::Sweep, Then::RunGoesOn},
           {"agent.before_start_worker", 2, "rtd", During::Sweep, Then::RunSaysHowToGoOn},
           {"head.before_append", 12, "rtd", During::Sweep, Then::RunSaysHowToGoOn},
           {"head.after_append", 12, "rtd", During::Sweep, Then::RunSaysHowToGoOn},
       })
    cases.push_back(more);
  return cases;
}

void PrintTo(const Case& at, std::ostream* to) { *to << at.point << ":" << at.pass << "@" << at.program; }

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.point + "_" + std::to_string(info.param.pass);
  if (info.param.during == During::Resume) name += "_resume";
  return std::regex_replace(name, std::regex("[^A-Za-z0-9]"), "_");
}

class Kill : public ::testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() { expected = new Outcome(undisturbed()); }
  static void TearDownTestSuite() { delete expected; }

  // Runs the sweep into the case's point.
  Ended run_into(const Case& at) {
    const std::vector<std::string> crash{"RT_CRASH_AT=" + at.point + ":" + std::to_string(at.pass) + "@" + at.program,
                                         "RT_CRASH_LOG=" + log().string()};
    switch (at.during) {
      case During::Sweep: return start_walk(sandbox, crash).wait();
      case During::Resume:
        start_walk(sandbox, {"RT_CRASH_AT=tune.after.Reported:8"}).wait();
        return resume(sandbox, crash).wait();
      case During::Stop: break;
    }
    const fs::path gate = sandbox / "gate";
    std::vector<std::string> environment = crash;
    environment.insert(environment.end(),
                       {std::string("WALK_GATE=") + kRepeatedStep, "WALK_GATE_FILE=" + gate.string()});
    Command command = start_walk(sandbox, environment);
    EXPECT_TRUE(eventually([&] { return fs::exists(gate.string() + ".here"); }));
    command.send(SIGINT);
    EXPECT_TRUE(at.point.ends_with("Interrupted") || command.says("sweep interrupted"));
    std::ofstream{gate};
    return command.wait();
  }

  // To the end, from whatever the kill has left. A sweep that was killed before its first record starts anew.
  Ended finish() {
    Ended ended = resume(sandbox).wait();
    if (ended.exit_code == 2 && ended.errors.find("start it again") != std::string::npos)
      ended = start_walk(sandbox).wait();
    return ended;
  }

  fs::path log() const { return sandbox / "crash-log"; }

  Sandbox sandbox;
  static Outcome* expected;
};

Outcome* Kill::expected = nullptr;

TEST_P(Kill, ThenResumeEqualsTheUndisturbedRunToTheBit) {
  const Case& at = GetParam();
  const Ended ended = run_into(at);
  EXPECT_TRUE(fs::exists(log())) << at.point << " never fired\n" << ended.output << ended.errors;
  EXPECT_EQ(ended.signal, at.then == Then::RunDies ? SIGKILL : 0) << ended.output << ended.errors;
  if (at.then == Then::RunGoesOn) {
    EXPECT_EQ(ended.exit_code, 0) << ended.output << ended.errors;
  } else if (at.then == Then::RunSaysHowToGoOn) {
    EXPECT_EQ(ended.exit_code, 1) << ended.output << ended.errors;
    EXPECT_THAT(ended.errors, HasSubstr("rtctl tune --resume " + (sandbox / "sweep").string())) << ended.output;
  }

  const Ended rest = finish();
  EXPECT_EQ(rest.exit_code, 0) << rest.output << rest.errors;
  EXPECT_EQ(difference(*expected, outcome_of(sandbox, sandbox / "sweep")), "");
  EXPECT_EQ(sandbox.leftovers(), "");
}

INSTANTIATE_TEST_SUITE_P(At, Kill, ::testing::ValuesIn(all_cases()), name_of);

TEST(KillTable, HasEveryKindOfRecordBeforeAndAfter) {
  std::set<std::string> points;
  for (const Case& at : all_cases()) points.insert(at.point);
  for (const std::string_view kind : tune::kRecordKinds)
    for (const char* when : {"tune.before.", "tune.after."})
      EXPECT_TRUE(points.contains(when + std::string(kind))) << kind;
}

// Snapshots of a journal are killed in runtime/base/journal_crash.test.cpp: a sweep makes none. The object store is in
// runtime/store/store_crash.test.cpp: a sweep uses none.
TEST(KillTable, HasEveryCrashPointOfTheSources) {
  std::set<std::string> points;
  for (const Case& at : all_cases()) points.insert(at.point);
  const std::regex written("RT_CRASH_POINT\\(\"([a-z_.]+)\"\\)");
  int found = 0;
  for (const char* folder : {"runtime", "actors", "tune", "rtctl"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(RT_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".cpp" || entry.path().string().ends_with(".test.cpp")) continue;
      const std::string text = rt::read_file(entry.path()).get();
      for (std::sregex_iterator it(text.begin(), text.end(), written), end; it != end; ++it, ++found)
        EXPECT_TRUE(points.contains((*it)[1]) || (*it)[1].str().starts_with("journal.snapshot.") ||
                    (*it)[1].str().starts_with("store."))
            << (*it)[1] << " of " << entry.path() << " is in no case of the table";
    }
  EXPECT_GT(found, 10);
}

class KillOfAll : public ::testing::TestWithParam<unsigned> {};

// Three kills a sweep, each when the journal has grown by a number of bytes that the seed draws.
TEST_P(KillOfAll, AtRandomMomentsThenResumeEqualsTheUndisturbedRunToTheBit) {
  const Outcome expected = undisturbed();
  const Sandbox sandbox;
  std::mt19937 random(GetParam());
  const auto journal_size = [&] {
    std::uintmax_t size = 0;
    if (fs::exists(sandbox / "sweep/tune"))
      for (const auto& file : fs::directory_iterator(sandbox / "sweep/tune"))
        size += file.is_regular_file() ? file.file_size() : 0;
    return size;
  };
  for (int kill = 0; kill < 3; ++kill) {
    const std::uintmax_t enough = journal_size() + 100 + random() % 1500;
    Command command = kill == 0 ? start_walk(sandbox, {}, 1) : resume(sandbox);
    eventually([&] { return journal_size() >= enough || command.wait(std::chrono::milliseconds(0)).exit_code >= 0; });
    sandbox.kill_all();
    command.wait();
  }
  const Ended rest = resume(sandbox).wait();
  EXPECT_EQ(rest.exit_code, 0) << rest.output << rest.errors;
  Outcome seen = outcome_of(sandbox, sandbox / "sweep");
  for (auto& trial : seen.results["trials"]) trial["parameters"]["linger_ms"] = 0;
  EXPECT_EQ(difference(expected, seen), "");
  EXPECT_EQ(sandbox.leftovers(), "");
}

INSTANTIATE_TEST_SUITE_P(Seed, KillOfAll, ::testing::Range(1u, 5u));

}  // namespace
}  // namespace rt::testing
