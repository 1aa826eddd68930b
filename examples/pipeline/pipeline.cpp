// A pipeline of three actors, the last of them slow. Each passes an item on and waits until that is taken, in a
// coroutine, so that it works on others meanwhile; the source keeps a few under way and no more. So nothing piles up
// before the slow stage: its pace is the pipeline's.
//   pipeline [ITEMS]

#include <rt/rt.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <string>

class Sink {
 public:
  void store(const std::string& word) {
    ::usleep(200);  // a slow disk
    letters_ += word.size();
  }
  std::size_t letters() const { return letters_; }

 private:
  std::size_t letters_ = 0;
};

class Doubler {
 public:
  explicit Doubler(rt::Actor<Sink> next) : next_(next) {}
  rt::Task<void> process(std::string word) {
    most_at_once_ = std::max(most_at_once_, ++at_once_);
    co_await next_.call<&Sink::store>(word + word);
    --at_once_;
  }
  int most_at_once() const { return most_at_once_; }

 private:
  rt::Actor<Sink> next_;
  int at_once_ = 0, most_at_once_ = 0;
};

int main(int argc, char** argv) {
  rt::Cluster cluster = rt::connect(argc, argv);
  const int items = argc > 1 ? std::atoi(argv[1]) : 200;
  constexpr std::size_t kUnderWay = 8;

  auto sink = cluster.spawn<Sink>();
  auto doubler = cluster.spawn<Doubler>({}, sink);
  std::deque<rt::Future<rt::Unit>> under_way;
  for (int i = 0; i < items; ++i) {
    if (under_way.size() == kUnderWay) {
      under_way.front().get();
      under_way.pop_front();
    }
    under_way.push_back(doubler.call<&Doubler::process>("word"));
  }
  rt::wait_all(under_way);

  std::cout << sink.call<&Sink::letters>().get() << " letters, at most " << doubler.call<&Doubler::most_at_once>().get()
            << " items at once in the middle\n";
}
