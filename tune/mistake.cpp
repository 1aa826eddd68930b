#include "rt/tune/mistake.h"

#include <algorithm>
#include <numeric>

namespace rt::tune {
namespace {

constexpr std::size_t kLongestKey = 64;  // longer words are no misspelling of a key

// Letters changed, added, left out, or two neighbours swapped (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({change, d[i - 1][j] + 1, d[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string to_string(const Mistake& mistake) {
  std::string text = mistake.file;
  if (mistake.line > 0) text += ":" + std::to_string(mistake.line);
  text += ": " + mistake.seen;
  if (!mistake.nearest.empty()) return text + " - did you mean '" + mistake.nearest + "'?";
  if (mistake.wanted.empty()) return text;
  return text + (mistake.kind == Mistake::Kind::NotSupportedYet ? "; " : ", wanted ") + mistake.wanted;
}

std::string to_string(const std::vector<Mistake>& mistakes) {
  std::string text;
  for (const Mistake& mistake : mistakes) text += (text.empty() ? "" : "\n") + to_string(mistake);
  return text;
}

std::string nearest(std::string_view seen, const std::vector<std::string>& known) {
  if (seen.empty() || seen.size() > kLongestKey) return "";
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(seen.size() / 3, 1) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(seen, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (!best.empty() || seen.size() < 3) return best;
  const auto longer =
      std::find_if(known.begin(), known.end(), [&](const auto& word) { return word.starts_with(seen); });
  return longer == known.end() ? "" : *longer;
}

}  // namespace rt::tune
