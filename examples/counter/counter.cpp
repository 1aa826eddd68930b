// An actor that counts: spawn it, call it, see what happens when it throws and when it dies.

#include <rt/rt.h>

#include <cstdlib>
#include <iostream>
#include <stdexcept>

class Counter {
 public:
  explicit Counter(int start) : n_(start) {}

  int add(int by) {
    if (by < 0) throw std::invalid_argument("a counter only grows, not by " + std::to_string(by));
    return n_ += by;
  }
  void crash() { std::abort(); }

 private:
  int n_;
};

int main(int argc, char** argv) {
  rt::Cluster cluster = rt::connect(argc, argv);  // a worker never returns from here

  auto counter = cluster.spawn<Counter>({.name = "counter"}, 10);
  std::cout << "10 + 5 = " << counter.call<&Counter::add>(5).get() << "\n";

  // Calls to one actor run in the order in which they were made; results are waited for when they are wanted.
  auto first = counter.call<&Counter::add>(1);
  auto second = counter.call<&Counter::add>(1);
  std::cout << "then " << first.get() << " and " << second.get() << "\n";

  try {
    counter.call<&Counter::add>(-1).get();
  } catch (const rt::Exception& error) {
    std::cout << "it threw: " << error.what() << "\n";
  }
  std::cout << "and lives on: " << counter.call<&Counter::add>(0).get() << std::endl;

  const auto result = counter.call<&Counter::crash>().result();
  std::cout << to_string(result.error().code) << ": " << result.error().message << "\n";
}
