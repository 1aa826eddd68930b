#include "rt/runtime/net/pass_fds.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace rt {
namespace {

constexpr std::size_t kMostFds = 8;
constexpr std::size_t kControlBytes = CMSG_SPACE(kMostFds * sizeof(int));

}  // namespace

Status send_with_fds(int socket, std::string_view bytes, const std::vector<Fd>& fds) {
  alignas(cmsghdr) char control[kControlBytes] = {};
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
  for (std::size_t i = 0; i < fds.size(); ++i) {
    const int fd = fds[i].get();
    std::memcpy(CMSG_DATA(header) + i * sizeof fd, &fd, sizeof fd);
  }
  ssize_t sent;
  do sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(bytes.size())) return Unit{};
  if (sent < 0 && (errno == EPIPE || errno == ECONNRESET))
    return Error{Code::NotSent, "the peer closed the connection"};
  return system_error("cannot pass descriptors to the peer", sent < 0 ? errno : EAGAIN);
}

Result<Received> receive_with_fds(int socket, std::size_t most, std::size_t most_fds) {
  alignas(cmsghdr) char control[kControlBytes] = {};
  Received received;
  received.bytes.resize(most);
  iovec part{received.bytes.data(), most};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t count;
  do count = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (count < 0 && errno == EINTR);
  received.bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  received.would_block = count < 0 && errno == EAGAIN;
  if (count < 0 && errno != EAGAIN && errno != ECONNRESET) return system_error("cannot read from the peer", errno);
  if (count < 0) return received;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t fds = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < fds; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
      received.fds.emplace_back(fd);
    }
  }
  if (received.fds.size() > most_fds || message.msg_flags & MSG_CTRUNC)
    return Error{Code::Corrupt, "the peer passed more descriptors than belong to a hello"};
  return received;
}

}  // namespace rt
