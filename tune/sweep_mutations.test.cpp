// Whatever bytes a sweep file holds, the parser answers: with a sweep, or with mistakes that name the file. The
// mutations are drawn from a fixed seed, so a failure is found again.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "rt/runtime/base/random.h"
#include "rt/tune/searcher.h"
#include "rt/tune/sweep.h"

namespace rt::tune {
namespace {

std::vector<std::string> files() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(RT_TEST_DATA "/sweeps"))
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

std::string mutated(std::string text, const std::vector<std::string>& all, Random& random) {
  const std::string spice[] = {"&a ", "*a",   "[",    "]",       "{",  "}",      ": ",  "- ",        "\n",    "  ",
                               "\t",  "'",    "\"",   "#",       "? ", "!!str ", "|\n", ">",         "---\n", "1e999",
                               "-",   "\xff", "<<: ", "${args}", "~",  "0x",     "%",   "parameters"};
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random.below(count)); };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(below(12), text.size() - at);
    switch (below(4)) {
      case 0: text.erase(at, length); break;
      case 1: text.insert(at, spice[below(std::size(spice))]); break;
      case 2: text.insert(at, text.substr(at, length)); break;
      default: {
        const std::string& other = all[below(all.size())];
        text.insert(at, other.substr(below(other.size()), 40));
      }
    }
  }
  return text;
}

TEST(SweepMutations, AreAnsweredWithASweepOrWithMistakes) {
  const auto all = files();
  ASSERT_GT(all.size(), 30u);
  Random random(20260101);
  int valid = 0;
  constexpr int kMutations = 6000;
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = mutated(all[static_cast<std::size_t>(i) % all.size()], all, random);
    const ParsedSweep parsed = parse_sweep(text, "mutated.yaml");
    ASSERT_NE(parsed.sweep.has_value(), !parsed.mistakes.empty()) << text;
    for (const Mistake& mistake : parsed.mistakes) ASSERT_TRUE(to_string(mistake).starts_with("mutated.yaml:")) << text;
    if (!parsed.sweep) continue;
    ++valid;
    const auto point = make_searcher(*parsed.sweep)->suggest(0);
    ASSERT_TRUE(point && point->is_object()) << text;
  }
  EXPECT_GT(valid, kMutations / 50);  // else the mutations are too wild to reach what lies behind the YAML
}

}  // namespace
}  // namespace rt::tune
