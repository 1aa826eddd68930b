#include "rt/runtime/head/key_value_space.h"

#include <algorithm>
#include <charconv>

namespace rt {

Result<std::vector<KeyValueSpace::Answer>> KeyValueSpace::set(const std::string& key, std::string value) {
  const auto it = values_.find(key);
  const std::size_t before = it == values_.end() ? 0 : key.size() + it->second.size();
  const std::size_t after = bytes_ - before + key.size() + value.size();
  if (after > max_bytes_)
    return Error{Code::Unavailable, "the key-value space is full: " + std::to_string(bytes_) + " of " +
                                        std::to_string(max_bytes_) + " bytes, key '" + key + "' not set"};
  bytes_ = after;
  values_[key] = std::move(value);
  return satisfied();
}

Result<std::int64_t> KeyValueSpace::add(const std::string& key, std::int64_t amount, std::vector<Answer>& answers) {
  std::int64_t number = 0;
  if (const auto it = values_.find(key); it != values_.end()) {
    const char* end = it->second.data() + it->second.size();
    if (const auto parsed = std::from_chars(it->second.data(), end, number);
        parsed.ptr != end || parsed.ec != std::errc{})
      return Error{Code::Invalid, "the value of key '" + key + "' is no number: '" + it->second + "'"};
  }
  number += amount;
  RT_TRY(more, set(key, std::to_string(number)));
  answers = std::move(more);
  return number;
}

Result<std::string> KeyValueSpace::compare_set(const std::string& key, const std::string& expected,
                                               const std::string& desired, std::vector<Answer>& answers) {
  const auto it = values_.find(key);
  if (it == values_.end() && !expected.empty()) return expected;
  if (it != values_.end() && it->second != expected) return it->second;
  RT_TRY(more, set(key, desired));
  answers = std::move(more);
  return desired;
}

std::vector<KeyValueSpace::Answer> KeyValueSpace::get(const Waiter& waiter, std::vector<std::string> keys) {
  if (check(keys)) return {{waiter, keys.empty() ? std::string() : values_.at(keys.front())}};
  waiters_[waiter] = std::move(keys);
  return {};
}

void KeyValueSpace::forget_client(std::uint32_t node, std::uint64_t client) {
  std::erase_if(waiters_, [&](const auto& entry) { return entry.first.node == node && entry.first.client == client; });
}

void KeyValueSpace::forget_node(std::uint32_t node) {
  std::erase_if(waiters_, [&](const auto& entry) { return entry.first.node == node; });
}

bool KeyValueSpace::check(const std::vector<std::string>& keys) const {
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) { return values_.count(key) > 0; });
}

bool KeyValueSpace::remove(const std::string& key) {
  const auto it = values_.find(key);
  if (it == values_.end()) return false;
  bytes_ -= key.size() + it->second.size();
  values_.erase(it);
  return true;
}

void KeyValueSpace::remove_prefix(const std::string& prefix) {
  auto it = values_.lower_bound(prefix);
  while (it != values_.end() && it->first.compare(0, prefix.size(), prefix) == 0) {
    bytes_ -= it->first.size() + it->second.size();
    it = values_.erase(it);
  }
}

std::vector<KeyValueSpace::Answer> KeyValueSpace::satisfied() {
  std::vector<Answer> answers;
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    if (!check(it->second)) {
      ++it;
      continue;
    }
    answers.push_back({it->first, values_.at(it->second.front())});
    it = waiters_.erase(it);
  }
  return answers;
}

}  // namespace rt
