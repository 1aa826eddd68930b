// A program that breaks the rule: it has a second thread when it reaches rt::connect. A fork would lose that thread.

#include <pthread.h>
#include <rt/rt.h>

#include <iostream>
#include <thread>

class Nobody {
 public:
  int answer() { return 42; }
};

int main(int argc, char** argv) {
  std::thread early([] { ::pause(); });
  ::pthread_setname_np(early.native_handle(), "early-bird");
  rt::Cluster cluster = rt::connect(argc, argv);
  std::cout << cluster.spawn<Nobody>().call<&Nobody::answer>().result().error().message << std::endl;
  std::_Exit(0);  // `early` never ends
}
