#include "rt/actors/stream.h"

#include <deque>
#include <mutex>

#include "rt/runtime/net/ring_poller.h"

namespace rt::detail {

class StreamInlet::Items final : public ItemSink, CallState::Listener {
  using StatePtr = std::shared_ptr<CallState>;

 public:
  void take(std::string_view item) override {
    StatePtr waiting;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) return arrived_.emplace_back(item), void();
      waiting = std::move(waiting_.front());
      waiting_.pop_front();
    }
    waiting->complete(item);
  }

  // The call's end is told to who waits. The call keeps this: it is its sink.
  void follow(CallState& call) {
    call_ = &call;
    fire = [](CallState::Listener& self) { static_cast<Items&>(self).end(); };
    if (!call.listen(*this)) end();
  }

  StatePtr next(CallState& call) {
    auto state = std::make_shared<CallState>(call.poller(), call.context());
    std::optional<Bytes> item;
    std::uint32_t read = 0;
    {
      const std::lock_guard lock(mutex_);
      if (!arrived_.empty()) {
        item = std::move(arrived_.front());
        arrived_.pop_front();
      } else if (!has_ended_) {
        waiting_.push_back(state);
      }
      if (item || !has_ended_) read = ++unread_ >= kStreamWindow / 2 ? std::exchange(unread_, 0) : 0;
    }
    if (item)
      state->complete(item->view());
    else if (has_ended_)
      finish(*state, call);
    if (read > 0) call.grant(read);
    return state;
  }

 private:
  void end() {
    std::deque<StatePtr> waiting;
    {
      const std::lock_guard lock(mutex_);
      has_ended_ = true;
      waiting.swap(waiting_);
    }
    for (const StatePtr& state : waiting) finish(*state, *call_);
  }

  // As the call ended: with nothing more, or with what went wrong.
  static void finish(CallState& state, const CallState& call) {
    if (call.has_failed()) return state.fail(call.error(), call.bytes());
    Encoder nothing;
    encode(nothing, std::optional<std::uint8_t>());
    state.complete(nothing.bytes());
  }

  const CallState* call_ = nullptr;
  std::mutex mutex_;  // guards all below
  std::deque<Bytes> arrived_;
  std::deque<StatePtr> waiting_;
  std::uint32_t unread_ = 0;  // that were asked for since the last grant
  std::atomic<bool> has_ended_{false};
};

std::shared_ptr<ItemSink> StreamInlet::make_items() { return std::make_shared<Items>(); }

StreamInlet::StreamInlet(std::shared_ptr<CallState> call, std::shared_ptr<ItemSink> items)
    : call_(std::move(call)), items_(std::static_pointer_cast<Items>(std::move(items))) {
  items_->follow(*call_);
}

StreamInlet::~StreamInlet() { call_->cancel(); }

std::shared_ptr<CallState> StreamInlet::next() { return items_->next(*call_); }

}  // namespace rt::detail
