#pragma once
// Parameters: one point of a sweep's search space, read by name. A nested parameter's name is its path: "optimizer.lr".
//
// A value: copied freely. Throws rt::Exception (Code::Invalid) naming the parameter, what it is and what was asked.

#include <cstdint>
#include <string>
#include <string_view>

namespace rt {

class Parameters {
 public:
  Parameters() = default;

  // `json`: the text of a JSON object, as tune writes it.
  explicit Parameters(std::string json);

  bool has(std::string_view name) const;

  double number(std::string_view name) const;         // any number
  std::int64_t integer(std::string_view name) const;  // a whole number; 3.0 is one, 3.5 isn't
  bool boolean(std::string_view name) const;
  std::string text(std::string_view name) const;

  double number_or(std::string_view name, double otherwise) const;
  std::int64_t integer_or(std::string_view name, std::int64_t otherwise) const;
  bool boolean_or(std::string_view name, bool otherwise) const;
  std::string text_or(std::string_view name, std::string_view otherwise) const;

  const std::string& json() const { return json_; }
  bool operator==(const Parameters&) const = default;

 private:
  std::string json_ = "{}";
};

}  // namespace rt
