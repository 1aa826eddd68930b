// The program that sweep.yaml names. All that it does is to hold the trainable Digits: rtctl starts it, and its ranks
// are forked from it inside rt::connect.
#include <rt/rt.h>

int main(int argc, char** argv) {
  const rt::Cluster cluster = rt::connect(argc, argv);
  return 0;
}
