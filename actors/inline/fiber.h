#pragma once
// Fiber: a function with a stack of its own, which its thread enters and leaves at will. In a debugger its frames look
// as a thread's do.
//
// Owner: whoever resumes it; all on one thread. It must have ended, or never begun, before it is destroyed. What is
// thrown doesn't leave it: its function catches all.

#include <ucontext.h>

#include <cstddef>
#include <functional>

namespace rt::detail {

class Fiber {
 public:
  static constexpr std::size_t kStack = std::size_t{8} << 20;  // of address space; only what is touched is memory

  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void resume();  // on the thread's own stack: returns when it pauses, or has ended
  void pause();   // in it
  bool has_ended() const { return has_ended_; }

 private:
  static void enter(unsigned high, unsigned low);
  void swap_exceptions();

  std::function<void()> body_;
  void* stack_;
  ucontext_t inside_{}, outside_{};
  bool has_ended_ = false;
  // Of the language's runtime, which keeps it for a thread: what is being caught, and how many are on their way.
  struct {
    void* caught = nullptr;
    unsigned uncaught = 0;
  } exceptions_;
  void* sanitizer_ = nullptr;  // what it knows this stack by
};

}  // namespace rt::detail
