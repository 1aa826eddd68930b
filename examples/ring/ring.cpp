// Actors that know each other: a token goes round a ring of them, each in its own process. Handles are values: an actor
// gets its neighbour's handle as an argument and calls it.

#include <rt/rt.h>

#include <cstdlib>
#include <iostream>
#include <vector>

class Member {
 public:
  void meet(rt::Actor<Member> neighbour) { neighbour_ = neighbour; }

  // Hands the token on `hops` times; returns the id of each process it came through.
  std::vector<int> pass(int hops) {
    if (hops == 0) return {::getpid()};
    std::vector<int> seen = neighbour_.call<&Member::pass>(hops - 1).get();
    seen.push_back(::getpid());
    return seen;
  }

 private:
  rt::Actor<Member> neighbour_;
};

int main(int argc, char** argv) {
  rt::Cluster cluster = rt::connect(argc, argv);
  const int size = argc > 1 ? std::atoi(argv[1]) : 4;
  if (size < 1) {
    std::cerr << "ring: '" << argv[1] << "' is no number of members; usage: ring [MEMBERS]\n";
    return 2;
  }

  std::vector<rt::Actor<Member>> ring;
  for (int i = 0; i < size; ++i) ring.push_back(cluster.spawn<Member>());
  for (int i = 0; i < size; ++i) ring[i].call<&Member::meet>(ring[(i + 1) % size]).get();

  // One hop short of a whole round: a member that waits for its own answer would wait for ever.
  const std::vector<int> seen = ring[0].call<&Member::pass>(size - 1).get();
  std::cout << "the token went through " << seen.size() << " processes\n";
}
