#include "rt/actors/collective/store.h"

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace rt::train {
namespace {

using Bytes = std::vector<std::uint8_t>;
using std::chrono::milliseconds;

std::string text(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }
Bytes bytes(const std::string& text) { return {text.begin(), text.end()}; }

template <class T>
T value_or_throw(Result<T> result) {
  if (!result) C10_THROW_ERROR(DistStoreError, result.error().message);
  return *std::move(result);
}

class KeyValueStore final : public c10d::Store {
 public:
  KeyValueStore(KeyValue& values, std::string prefix, milliseconds timeout)
      : Store(timeout), values_(values), prefix_(std::move(prefix)) {}

  using Store::compareSet;
  using Store::set;

  c10::intrusive_ptr<Store> clone() override { return c10::make_intrusive<KeyValueStore>(values_, prefix_, timeout_); }
  void set(const std::string& key, const Bytes& value) override {
    value_or_throw(values_.set(prefix_ + key, text(value)));
  }
  Bytes compareSet(const std::string& key, const Bytes& expected, const Bytes& desired) override {
    return bytes(value_or_throw(values_.compare_set(prefix_ + key, text(expected), text(desired))));
  }
  Bytes get(const std::string& key) override { return bytes(value_or_throw(values_.get(prefix_ + key, timeout_))); }
  std::int64_t add(const std::string& key, std::int64_t amount) override {
    return value_or_throw(values_.add(prefix_ + key, amount));
  }
  bool deleteKey(const std::string& key) override { return value_or_throw(values_.remove(prefix_ + key)); }
  bool check(const std::vector<std::string>& keys) override { return value_or_throw(values_.check(prefixed(keys))); }
  std::int64_t getNumKeys() override {
    C10_THROW_ERROR(NotImplementedError, "the cluster's key-value space doesn't count keys");
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys, const milliseconds& timeout) override {
    value_or_throw(values_.wait(prefixed(keys), timeout));
  }

 private:
  std::vector<std::string> prefixed(std::vector<std::string> keys) const {
    for (auto& key : keys) key.insert(0, prefix_);
    return keys;
  }

  KeyValue& values_;
  const std::string prefix_;
};

class StoreKeyValue final : public KeyValue {
 public:
  explicit StoreKeyValue(c10::intrusive_ptr<c10d::Store> store) : store_(std::move(store)) {}

  Status set(std::string_view key, std::string_view value) override {
    return tried([&] { store_->set(std::string(key), std::string(value)); });
  }
  Result<std::string> get(std::string_view key, milliseconds deadline) override {
    return tried([&] {
      store_->wait({std::string(key)}, deadline);
      return text(store_->get(std::string(key)));
    });
  }
  Status wait(const std::vector<std::string>& keys, milliseconds deadline) override {
    return tried([&] { store_->wait(keys, deadline); });
  }
  Result<std::int64_t> add(std::string_view key, std::int64_t amount) override {
    return tried([&] { return store_->add(std::string(key), amount); });
  }
  Result<std::string> compare_set(std::string_view key, std::string_view expected, std::string_view desired) override {
    return tried([&] { return store_->compareSet(std::string(key), std::string(expected), std::string(desired)); });
  }
  Result<bool> check(const std::vector<std::string>& keys) override {
    return tried([&] { return store_->check(keys); });
  }
  Result<bool> remove(std::string_view key) override {
    return tried([&] { return store_->deleteKey(std::string(key)); });
  }

 private:
  template <class Call>
  static auto tried(Call call) -> Result<std::conditional_t<std::is_void_v<decltype(call())>, Unit, decltype(call())>> {
    try {
      if constexpr (std::is_void_v<decltype(call())>) {
        call();
        return Unit{};
      } else {
        return call();
      }
    } catch (const c10::DistStoreError& error) {
      return Error{Code::Deadline, error.what_without_backtrace()};
    } catch (const std::exception& error) {
      return Error{Code::Unavailable, error.what()};
    }
  }

  c10::intrusive_ptr<c10d::Store> store_;
};

}  // namespace

c10::intrusive_ptr<c10d::Store> store_over(KeyValue& values, std::string prefix, milliseconds timeout) {
  return c10::make_intrusive<KeyValueStore>(values, std::move(prefix), timeout);
}

std::unique_ptr<KeyValue> key_value_over(c10::intrusive_ptr<c10d::Store> store) {
  return std::make_unique<StoreKeyValue>(std::move(store));
}

}  // namespace rt::train
