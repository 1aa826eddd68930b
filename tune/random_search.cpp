#include "rt/runtime/base/random.h"
#include "rt/tune/searcher.h"

namespace rt::tune {
namespace {

class RandomSearch final : public Searcher {
 public:
  RandomSearch(const Space& space, std::uint64_t seed, std::optional<std::int64_t> run_cap)
      : space_(space), seed_(seed), run_cap_(run_cap) {}

  std::optional<Value> suggest(std::int64_t trial) const override {
    if (trial < 0 || (run_cap_ && trial >= *run_cap_)) return std::nullopt;
    Random stream(split(seed_, static_cast<std::uint64_t>(trial)));
    return sample(space_, [&] { return stream.uniform(); });
  }

  std::optional<std::int64_t> size() const override { return run_cap_; }

 private:
  Space space_;
  std::uint64_t seed_;
  std::optional<std::int64_t> run_cap_;
};

}  // namespace

std::unique_ptr<Searcher> make_random(const Space& space, std::uint64_t seed, std::optional<std::int64_t> run_cap) {
  return std::make_unique<RandomSearch>(space, seed, run_cap);
}

}  // namespace rt::tune
