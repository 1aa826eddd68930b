#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "rt/tune/yaml.h"

namespace rt::tune {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// The text read to its end as T; `end_reached` says whether it was one, the result whether T can hold it.
template <class T, class Format>
std::optional<Value> read_as(std::string_view text, Format format, bool& end_reached) {
  T value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, format);
  end_reached = read.ptr == text.data() + text.size() && read.ec != std::errc::invalid_argument;
  return read.ec == std::errc{} ? std::optional<Value>(value) : std::nullopt;
}

}  // namespace

std::optional<Value> scalar_value(const YamlNode& scalar) {
  const std::string& text = scalar.text;
  if (!scalar.is_plain) return Value(text);
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return Value(nullptr);
  if (is_one_of(text, {"true", "True", "TRUE"})) return Value(true);
  if (is_one_of(text, {"false", "False", "FALSE"})) return Value(false);

  const bool has_sign = text[0] == '-' || text[0] == '+';
  const std::string_view unsigned_text = std::string_view(text).substr(has_sign ? 1 : 0);
  if (is_one_of(unsigned_text, {".inf", ".Inf", ".INF"}) || is_one_of(text, {".nan", ".NaN", ".NAN"}))
    return std::nullopt;

  bool is_number = false;
  for (const auto& [prefix, base] : {std::pair{"0x", 16}, std::pair{"0o", 8}}) {
    if (!text.starts_with(prefix) || text.size() == 2 || text[2] == '-') continue;
    const auto value = read_as<std::int64_t>(std::string_view(text).substr(2), base, is_number);
    if (is_number) return value;
  }
  if (unsigned_text.empty() || !(is_digit(unsigned_text[0]) || unsigned_text[0] == '.')) return Value(text);
  const std::string_view digits = text[0] == '+' ? unsigned_text : std::string_view(text);
  const bool is_whole = std::all_of(unsigned_text.begin(), unsigned_text.end(), is_digit);
  const auto value = is_whole ? read_as<std::int64_t>(digits, 10, is_number)
                              : read_as<double>(digits, std::chars_format::general, is_number);
  return is_number ? value : Value(text);
}

}  // namespace rt::tune
