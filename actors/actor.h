#pragma once
// Actor<T>: a handle to an actor of class T. A value: copied freely, passed to other actors, kept in structs. It keeps
// nothing alive; a call through it after the actor's death fails and says what the actor died of.

#include <chrono>
#include <memory>
#include <utility>

#include "rt/actors/client.h"
#include "rt/actors/future.h"
#include "rt/actors/method_table.h"

namespace rt {

template <class T>
class Actor {
 public:
  Actor() = default;
  Actor(detail::Client* client, ActorId id) : client_(client), id_(id) {}

  // counter.call<&Counter::add>(5): runs in the actor, in the order in which this process called it. A Future of what
  // the method returns; of a method that returns a Stream, that.
  template <auto M, class... Args>
  auto call(Args&&... args) const {
    using Traits = typename detail::Method<M, T>::Traits;
    const Encoder arguments = encoded<M>(std::forward<Args>(args)...);
    if constexpr (detail::is_stream<typename Traits::Returned>) {
      auto items = detail::StreamInlet::make_items();
      auto call = client().call(id_, detail::Method<M, T>::name, arguments.bytes(),
                                {deadline_, items, &arguments.attachments()});
      return typename Traits::Returned(std::make_unique<detail::StreamInlet>(std::move(call), std::move(items)));
    } else {
      return Future<typename Traits::Result>(client().call(id_, detail::Method<M, T>::name, arguments.bytes(),
                                                           {deadline_, nullptr, &arguments.attachments()}));
    }
  }

  // The same actor, by a handle whose calls end after so long with Code::Deadline: one that hasn't begun by then
  // doesn't run, one that runs is cancelled. counter.within(200ms).call<&Counter::add>(5)
  Actor within(std::chrono::nanoseconds deadline) const {
    Actor other = *this;
    other.deadline_ = deadline;
    return other;
  }

  // One way: nothing comes back, not even that it ran. Code::NotSent where the actor is known to be dead.
  template <auto M, class... Args>
  Status send(Args&&... args) const {
    const Encoder arguments = encoded<M>(std::forward<Args>(args)...);
    return client().send(id_, detail::Method<M, T>::name, arguments.bytes(), {.objects = &arguments.attachments()});
  }

  ActorId id() const { return id_; }
  explicit operator bool() const { return client_ != nullptr; }

  // Ends the actor and all processes below it, at once; calls under way fail with MaybeRan. With a deadline it is asked
  // first: its stop token is set, the method under way returns and is answered, and it leaves; what is left of it then
  // is killed. Calls that it hadn't begun fail. One that hasn't started yet is killed at once.
  void kill(std::chrono::milliseconds deadline = {}) const { client().kill(id_, deadline); }

  void rt_encode(Encoder& to) const { encode<ActorId>(to, id_); }
  static Actor rt_decode(Decoder& from) {
    return {static_cast<detail::Client*>(from.context()), decode<ActorId>(from)};
  }

  // Inside the library: this process's connection. Throws where the handle names no actor.
  detail::Client& client() const {
    if (!client_)
      throw Exception({Code::Invalid, "this handle names no actor: it was never assigned from a spawn or a lookup"});
    return *client_;
  }

 private:
  template <auto M, class... Args>
  Encoder encoded(Args&&... args) const {
    using Traits = typename detail::Method<M, T>::Traits;
    Encoder to(client().large());
    detail::encode_arguments<typename Traits::Arguments>(to, std::forward<Args>(args)...);
    return to;
  }

  detail::Client* client_ = nullptr;  // the process's own, which outlives its handles' use
  ActorId id_ = 0;
  std::chrono::nanoseconds deadline_{0};  // of its calls; 0: none. It stays in this process
};

}  // namespace rt
