#pragma once

class Counter {
 public:
  explicit Counter(int start) : n_(start) {}
  int add(int by) { return n_ += by; }

 private:
  int n_;
};
