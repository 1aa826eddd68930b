#include "rt/actors/process_store.h"

#include <signal.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>

#include "rt/runtime/base/log.h"

namespace rt::detail {

boost::asio::execution_context::id ProcessStore::id;

ProcessStore::ProcessStore(boost::asio::execution_context& context)
    : service(context), timer_(static_cast<boost::asio::io_context&>(context)) {}

void ProcessStore::shutdown() {}

namespace {

// One that has just ended: news of that will come. One that lives has no place in the store.
Error no_slot(pid_t pid) {
  if (::kill(pid, 0) != 0 && errno == ESRCH) return {Code::NotSent, "the process has ended"};
  return {Code::Refused, "the process " + std::to_string(pid) + " can't be passed objects: it has no object store"};
}

}  // namespace

void ProcessStore::open(const Joined& joined) {
  if (joined.store_path.empty() || joined.store_slot == 0) return;
  auto opened = Store::open(joined.store_path, joined.store_slot, joined.node);
  if (!opened) return log::warning("large values are copied in this process: {}", opened.error().message);
  set(*std::move(opened));
}

void ProcessStore::set(std::shared_ptr<Store> store) { store_ = std::move(store); }

Status ProcessStore::send(Transport& to, FrameType type, std::uint64_t route, wire::CallHeader header,
                          std::string_view body, const Attachments& objects) {
  const auto view = [&] { return std::string_view(reinterpret_cast<const char*>(&header), sizeof header); };
  if (objects.empty()) return to.send(type, route, view(), body);
  const std::uint32_t slot = store_ ? store_->slot_of(to.peer_pid()) : 0;
  if (slot == 0) return no_slot(to.peer_pid());
  header.objects = static_cast<std::uint16_t>(objects.size());
  std::string head(view());
  std::vector<PassedObject> passed;
  passed.reserve(objects.size());
  const auto take_back = [&] {
    for (const PassedObject& one : passed) store_->take_back(one, slot);
  };
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto one = store_->pass(*objects[i], slot);
    if (!one) {
      take_back();
      if (store_->slot_of(to.peer_pid()) != slot) return no_slot(to.peer_pid());
      return Error{Code::Lost, "an object that the message refers to isn't in this node's store"};
    }
    passed.push_back(*one);
  }
  head.append(reinterpret_cast<const char*>(passed.data()), passed.size() * sizeof(PassedObject));
  const Status sent = to.send(type, route, head, body);
  if (!sent) take_back();
  return sent;
}

Status ProcessStore::receive(const Transport& from, const wire::CallHeader& header, std::string_view& body,
                             Attachments& objects) {
  const std::size_t size = header.objects * sizeof(PassedObject);
  if (body.size() < size) return Error{Code::Corrupt, "a message is shorter than the objects that it names"};
  if (!store_) return Error{Code::Unavailable, "this process has no object store"};
  const std::uint32_t sender = store_->slot_of_sender(from.peer_pid());
  Status all = Unit{};
  for (std::size_t i = 0; i < header.objects; ++i) {
    PassedObject one;
    std::memcpy(&one, body.data() + i * sizeof one, sizeof one);
    auto object = store_->receive(one, sender);
    if (object)
      objects.push_back(*std::move(object));
    else
      all = object.error();
  }
  body.remove_prefix(size);
  return all;
}

void ProcessStore::opened(pid_t peer) {
  const std::lock_guard lock(mutex_);
  ++connections_[peer];
  gone_.erase(peer);
}

void ProcessStore::closed(pid_t peer) {
  const std::lock_guard lock(mutex_);
  const auto it = connections_.find(peer);
  if (it == connections_.end() || --it->second > 0) return;
  connections_.erase(it);
  if (!store_) return;
  gone_[peer] = 0;
  if (!is_looking_) look_soon();
}

// Under the lock. Its agent may not have noticed its end yet.
void ProcessStore::look_soon() {
  is_looking_ = true;
  auto& io = static_cast<boost::asio::io_context&>(context());
  boost::asio::post(io, [this] {
    timer_.expires_after(std::chrono::milliseconds(200));
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) look();
    });
  });
}

// One that lives on, without a connection, has sent nothing that is unread, as far as can be told.
void ProcessStore::look() {
  constexpr int kMostLooks = 50;
  const std::lock_guard lock(mutex_);
  for (auto it = gone_.begin(); it != gone_.end();) {
    const bool is_over = store_->drop_unread_of(it->first) || ++it->second > kMostLooks;
    it = is_over ? gone_.erase(it) : std::next(it);
  }
  is_looking_ = false;
  if (!gone_.empty()) look_soon();
}

}  // namespace rt::detail
