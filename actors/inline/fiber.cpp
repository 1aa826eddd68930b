#include "rt/actors/inline/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "rt/runtime/base/result.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace rt::detail {
namespace {

constexpr std::size_t kGuard = 4096;

#if defined(__SANITIZE_ADDRESS__)
thread_local const void* own_stack = nullptr;  // the thread's, as the sanitizer names it
thread_local std::size_t own_size = 0;
#endif

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {
  stack_ = ::mmap(nullptr, kGuard + kStack, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack_ == MAP_FAILED) throw Exception(system_error("no room for the stack of an actor", errno));
  ::mprotect(stack_, kGuard, PROT_NONE);
  ::getcontext(&inside_);
  inside_.uc_stack.ss_sp = static_cast<char*>(stack_) + kGuard;
  inside_.uc_stack.ss_size = kStack;
  inside_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  ::makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
#if defined(__SANITIZE_THREAD__)
  sanitizer_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
  ::munmap(stack_, kGuard + kStack);
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(sanitizer_);
#endif
}

void Fiber::enter(unsigned high, unsigned low) {
  auto* const self = reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32 | low);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &own_stack, &own_size);
#endif
  self->body_();
  self->has_ended_ = true;
  self->pause();
}

void Fiber::swap_exceptions() {
  void* const of_thread = abi::__cxa_get_globals();
  decltype(exceptions_) before;
  std::memcpy(&before, of_thread, sizeof before);
  std::memcpy(of_thread, &exceptions_, sizeof exceptions_);
  exceptions_ = before;
}

void Fiber::resume() {
  swap_exceptions();
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, inside_.uc_stack.ss_sp, kStack);
#elif defined(__SANITIZE_THREAD__)
  void* const inside = std::exchange(sanitizer_, __tsan_get_current_fiber());
  __tsan_switch_to_fiber(inside, 0);
#endif
  ::swapcontext(&outside_, &inside_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  swap_exceptions();
}

void Fiber::pause() {
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(has_ended_ ? nullptr : &fake_stack, own_stack, own_size);
#elif defined(__SANITIZE_THREAD__)
  void* const outside = std::exchange(sanitizer_, __tsan_get_current_fiber());
  __tsan_switch_to_fiber(outside, 0);
#endif
  ::swapcontext(&inside_, &outside_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, &own_stack, &own_size);
#endif
}

}  // namespace rt::detail
