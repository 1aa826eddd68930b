#include "rt/actors/train/data/digits.h"

#include <charconv>
#include <string>
#include <string_view>

#include "rt/actors/train/data/gzip.h"

namespace rt::train {
namespace {

constexpr std::int64_t kRows = 1797;
constexpr int kPixels = 64;
constexpr int kBrightest = 16;
constexpr int kDigitClasses = 10;
constexpr std::size_t kLongestLine = (kPixels + 1) * 4;
constexpr std::size_t kMaxBytes = (kRows + 1) * kLongestLine;  // the real file has 262,000

const std::string kRemedy = "; run scripts/setup, which takes the file from the scikit-learn wheel";

Error damaged(const std::filesystem::path& file, std::int64_t line, const std::string& what) {
  return {Code::Corrupt, file.string() + ", line " + std::to_string(line) + ": " + what + kRemedy};
}

std::string_view take_until(std::string_view& rest, char mark) {
  const auto end = rest.find(mark);
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return taken;
}

// A whole number 0..most, or -1.
int whole_number(std::string_view text, int most) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && value >= 0 && value <= most ? value : -1;
}

// Adds one line to `data`; says what is wrong with it, or nothing.
std::string add_line(std::string_view line, Dataset& data) {
  for (int column = 0; column <= kPixels; ++column) {
    const bool is_label = column == kPixels;
    if (line.empty()) return "has " + std::to_string(column) + " values, wanted 64 pixels and a label";
    const std::string text(take_until(line, ','));
    const int most = is_label ? kDigitClasses - 1 : kBrightest;
    const int value = whole_number(text, most);
    if (value < 0)
      return "value " + std::to_string(column + 1) + " is '" + text + "', wanted a whole number 0.." +
             std::to_string(most);
    if (is_label) {
      data.labels.push_back(value);
    } else {
      data.features.push_back(static_cast<float>(value) / kBrightest);
    }
  }
  return line.empty() ? "" : "has more than 65 values";
}

Result<std::string> read_text(const std::filesystem::path& file) {
  auto opened = GzipFile::open(file);
  if (!opened) return Error{opened.error().code, opened.error().message + kRemedy};
  auto text = opened->read(kMaxBytes);
  if (!text) return Error{text.error().code, text.error().message + kRemedy};
  return text;
}

}  // namespace

Result<Dataset> read_digits(const std::filesystem::path& file) {
  RT_TRY(text, read_text(file));
  Dataset data{.columns = kPixels, .classes = kDigitClasses};
  data.features.reserve(kRows * kPixels);
  data.labels.reserve(kRows);

  std::string_view rest = text;
  while (!rest.empty()) {
    if (data.rows == kRows) return damaged(file, kRows + 1, "there are more than 1797 lines");
    const std::string problem = add_line(take_until(rest, '\n'), data);
    if (!problem.empty()) return damaged(file, data.rows + 1, problem);
    ++data.rows;
  }
  if (data.rows != kRows) return damaged(file, data.rows, "the file ends here, wanted 1797 lines");
  return data;
}

}  // namespace rt::train
