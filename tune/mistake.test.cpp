#include "rt/tune/mistake.h"

#include <gtest/gtest.h>

namespace rt::tune {
namespace {

TEST(Mistake, IsOneLineWithThePlaceWhatWasSeenAndTheNearestKey) {
  const Mistake mistake{.file = "sweep.yaml",
                        .line = 7,
                        .column = 1,
                        .seen = "unknown key 'paramters'",
                        .wanted = "one of: method, parameters",
                        .nearest = "parameters"};
  EXPECT_EQ(to_string(mistake), "sweep.yaml:7: unknown key 'paramters' - did you mean 'parameters'?");
}

TEST(Mistake, SaysWhatIsWantedWhereNothingIsNear) {
  const Mistake mistake{
      .file = "s.yaml", .line = 2, .seen = "'run_cap' is 0", .wanted = "a whole number of at least 1"};
  EXPECT_EQ(to_string(mistake), "s.yaml:2: 'run_cap' is 0, wanted a whole number of at least 1");
}

TEST(Mistake, OfTheWholeFileHasNoLine) {
  EXPECT_EQ(to_string(Mistake{.file = "s.yaml", .seen = "the file is empty", .wanted = "a map"}),
            "s.yaml: the file is empty, wanted a map");
}

TEST(Mistake, NotSupportedYetSaysWhatWorks) {
  const Mistake mistake{.kind = Mistake::Kind::NotSupportedYet,
                        .file = "s.yaml",
                        .line = 1,
                        .seen = "'method: bayes' is not supported yet",
                        .wanted = "grid and random are"};
  EXPECT_EQ(to_string(mistake), "s.yaml:1: 'method: bayes' is not supported yet; grid and random are");
}

TEST(Nearest, FindsWhatAPersonMeant) {
  const std::vector<std::string> known = {"method",  "metric",   "parameters", "program",
                                          "run_cap", "minimize", "maximize"};
  const std::pair<const char*, const char*> cases[] = {
      {"paramters", "parameters"},
      {"mehtod", "method"},
      {"metrics", "metric"},
      {"runcap", "run_cap"},
      {"programm", "program"},
      {"min", "minimize"},
      {"max", "maximize"},
      {"PARAMETERS", ""},
      {"xyz", ""},
      {"", ""},
      {"me", ""},
  };
  for (const auto& [seen, meant] : cases) EXPECT_EQ(nearest(seen, known), meant) << seen;
}

TEST(Nearest, DoesNotCompareWithAWordAsLongAsABook) { EXPECT_EQ(nearest(std::string(1'000'000, 'm'), {"method"}), ""); }

}  // namespace
}  // namespace rt::tune
