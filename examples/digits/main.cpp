// The program that sweep.yaml names. Its ranks are forked inside rt::connect and find the trainable Digits by its name.
#include <rt/rt.h>

#include <iostream>

int main(int argc, char** argv) {
  rt::connect(argc, argv);
  std::cout << "The trials of a sweep run in this program: rtctl tune examples/digits/sweep.yaml\n";
}
