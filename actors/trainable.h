#pragma once
// A trainable: the class that a sweep names (`trainable: Digits`). One object lives in each rank's process; its methods
// are called one at a time on the process's main thread, in this order:
//
//   setup(context)   once; build the model, join the group
//   load(directory)  after setup, where the trial goes on from a checkpoint
//   step()           one iteration of the sweep (say, an epoch); every rank is asked for the same steps; rank 0's
//                    metrics are the trial's
//   save(directory)  every rank writes what only it has, rank 0 also what all share; the folder exists, is empty at
//                    first and becomes a checkpoint only when all ranks have returned
//
// An exception ends the rank; the trial is tried again from its last checkpoint, `max_failures` times.
//
//   class Digits { public: void setup(rt::RankContext&); rt::Metrics step(); void save(const std::filesystem::path&);
//                          void load(const std::filesystem::path&); };
//   RT_TRAINABLE(Digits)      // at namespace scope, in one source file of the program

#include <concepts>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rt/actors/rank_context.h"

namespace rt {

using Metrics = std::map<std::string, double>;

template <class T>
concept TrainableClass = std::default_initializable<T> &&
    requires(T t, RankContext& context, const std::filesystem::path& directory) {
  t.setup(context);
  { t.step() } -> std::convertible_to<Metrics>;
  t.save(directory);
  t.load(directory);
};

namespace detail {

class AnyTrainable {
 public:
  virtual ~AnyTrainable() = default;
  virtual void setup(RankContext& context) = 0;
  virtual Metrics step() = 0;
  virtual void save(const std::filesystem::path& directory) = 0;
  virtual void load(const std::filesystem::path& directory) = 0;
};

template <TrainableClass T>
class TrainableOf final : public AnyTrainable {
 public:
  void setup(RankContext& context) override { object_.setup(context); }
  Metrics step() override { return object_.step(); }
  void save(const std::filesystem::path& directory) override { object_.save(directory); }
  void load(const std::filesystem::path& directory) override { object_.load(directory); }

 private:
  T object_;
};

using TrainableFactory = std::unique_ptr<AnyTrainable> (*)();

// Called before main only; the table is constant afterwards.
bool register_trainable(std::string_view name, TrainableFactory factory);

}  // namespace detail

// A new object of the trainable `name`; null where this program has none of that name.
std::unique_ptr<detail::AnyTrainable> make_trainable(std::string_view name);
std::vector<std::string> trainable_names();

#define RT_TRAINABLE(Class)                                                                          \
  static_assert(::rt::TrainableClass<Class>, #Class                                                  \
                " is no trainable: it needs setup(rt::RankContext&), rt::Metrics step(), "           \
                "save(const std::filesystem::path&) and load(const std::filesystem::path&)");        \
  [[maybe_unused]] static const bool rt_trainable_##Class =                                          \
      ::rt::detail::register_trainable(#Class, []() -> std::unique_ptr<::rt::detail::AnyTrainable> { \
        return std::make_unique<::rt::detail::TrainableOf<Class>>();                                 \
      });

}  // namespace rt
