#include "rt/actors/hello.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "rt/runtime/net/blocking_frames.h"
#include "rt/runtime/wire/control.capnp.h"
#include "rt/runtime/wire/message.h"

namespace rt::detail {
namespace {

constexpr int kLimitMs = 30000;

std::string message_of(const Hello& hello) {
  capnp::MallocMessageBuilder builder;
  auto control = builder.initRoot<wire::Control>();
  control.setRequest(1);
  auto to = control.initHello();
  const bool is_worker = hello.actor != 0 || !hello.program.path.empty();
  to.setVersion(wire::PROTOCOL_VERSION);
  to.setRole(is_worker ? wire::Hello::Role::WORKER : wire::Hello::Role::DRIVER);
  to.setPid(static_cast<std::uint32_t>(::getpid()));
  to.setActor(hello.actor);
  to.setIncarnation(hello.incarnation);
  to.setAddress(hello.address);
  to.setNameSpace(hello.name_space);
  to.initProgram().setPath(hello.program.path);
  to.getProgram().setHash(hello.program.hash);
  return wire::to_bytes(builder);
}

Result<Joined> joined_of(wire::Control::Reader control) {
  if (!control.isReply()) return Error{Code::Corrupt, "the node's agent answered a hello by something else"};
  const auto reply = control.getReply();
  if (reply.isError())
    return Error{static_cast<Code>(reply.getError().getCode()), wire::text(reply.getError().getMessage())};
  if (!reply.isHello()) return Error{Code::Corrupt, "the node's agent answered a hello by another request's reply"};
  const auto hello = reply.getHello();
  return Joined{hello.getClient(), hello.getNode(), wire::text(hello.getRunFolder()), wire::text(hello.getStorePath()),
                hello.getStoreSlot()};
}

}  // namespace

Result<Joined> say_hello(int agent_fd, const Hello& hello) {
  RT_CHECK(write_control(agent_fd, message_of(hello)));
  pollfd answer{agent_fd, POLLIN, 0};
  int rc;
  do rc = ::poll(&answer, 1, kLimitMs);
  while (rc < 0 && errno == EINTR);
  if (rc == 0)
    return Error{Code::Deadline, "the node's agent did not answer within " + std::to_string(kLimitMs / 1000) + " s"};
  RT_TRY(bytes, read_control(agent_fd));
  Result<Joined> joined = Error{Code::Corrupt, ""};
  RT_CHECK(
      wire::with_message<wire::Control>(bytes, [&](wire::Control::Reader control) { joined = joined_of(control); }));
  return joined;
}

}  // namespace rt::detail
