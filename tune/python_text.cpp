#include <array>
#include <charconv>
#include <cstdio>

#include "rt/tune/command.h"

namespace rt::tune {
namespace {

// How a language spells what the two have in common.
struct Spelling {
  const char* null;
  const char* yes;
  const char* no;
  std::string (*quote)(const std::string& text);
};

// Python's float.__repr__: the shortest digits that read back the same; an exponent below 1e-4 and from 1e16 on.
std::string float_text(double number) {
  std::array<char, 32> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::scientific).ptr;
  const std::string scientific(buffer.data(), end);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  if (exponent < -4 || exponent >= 16) return scientific;
  std::array<char, 64> fixed;
  const auto fixed_end = std::to_chars(fixed.data(), fixed.data() + fixed.size(), number, std::chars_format::fixed).ptr;
  std::string text(fixed.data(), fixed_end);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string escaped(unsigned char control) {
  char text[8];
  std::snprintf(text, sizeof text, "\\x%02x", control);
  return text;
}

// Python's str.__repr__: single quotes, double ones where the text has single ones only.
std::string python_quote(const std::string& text) {
  const bool has_single = text.find('\'') != std::string::npos;
  const char quote = has_single && text.find('"') == std::string::npos ? '"' : '\'';
  std::string quoted(1, quote);
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == quote || letter == '\\')
      (quoted += '\\') += letter;
    else if (letter == '\n')
      quoted += "\\n";
    else if (letter == '\r')
      quoted += "\\r";
    else if (letter == '\t')
      quoted += "\\t";
    else if (byte < 0x20 || byte == 0x7F)
      quoted += escaped(byte);
    else
      quoted += letter;
  }
  return quoted + quote;
}

// json.dumps escapes all that isn't ASCII.
std::string json_quote(const std::string& text) { return Value(text).dump(-1, ' ', true); }

constexpr Spelling kPython{"None", "True", "False", python_quote};
constexpr Spelling kJson{"null", "true", "false", json_quote};

std::string print(const Value& value, const Spelling& spelling) {
  if (value.is_null()) return spelling.null;
  if (value.is_boolean()) return value.get<bool>() ? spelling.yes : spelling.no;
  if (value.is_number_float()) return float_text(value.get<double>());
  if (value.is_string()) return spelling.quote(value.get<std::string>());
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, part] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += spelling.quote(key) + ": ";
    text += print(part, spelling);
  }
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace

std::string python_text(const Value& value) {
  return value.is_string() ? value.get<std::string>() : print(value, kPython);
}

std::string json_text(const Value& value) { return print(value, kJson); }

}  // namespace rt::tune
