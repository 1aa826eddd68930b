// The fork server and the agent's end of it together. The test's own program is the fork server's, as a job program is:
// its `main` asks first whether it is one. What a child does is named by the class that is spawned.

#include "rt/runtime/node/fork_server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "rt/runtime/base/process_tree.h"
#include "rt/runtime/base/spawn_process.h"
#include "rt/runtime/base/temporary_folder.h"
#include "rt/runtime/net/blocking_frames.h"
#include "rt/runtime/node/fork_server_link.h"
#include "rt/runtime/wire/message.h"

namespace rt {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// --- in the fork server and its children -------------------------------------------------------------------------

void tell(const std::string& fifo, const std::string& line) { std::ofstream(fifo) << line << std::endl; }

// Which sockets it holds, the signals it blocks, and whether it leads a session.
std::string describe_self() {
  int sockets = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    sockets += fs::read_symlink(entry.path(), gone).string().starts_with("socket:");
  }
  sigset_t blocked;
  ::sigprocmask(SIG_BLOCK, nullptr, &blocked);
  return std::to_string(sockets) + " sockets, SIGCHLD " + (::sigismember(&blocked, SIGCHLD) ? "blocked" : "free") +
         (::getsid(0) == ::getpid() ? ", leads" : ", led");
}

// Leaves a grandchild in a session of its own, whose parent has ended.
void leave_daemon(const std::string& fifo) {
  if (const pid_t child = ::fork(); child != 0) {
    ::waitpid(child, nullptr, 0);
    return;
  }
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  tell(fifo, std::to_string(::getpid()));
  while (true) ::pause();
}

[[noreturn]] void be_child(const std::string& request) {
  (void)wire::with_message<wire::StartWorker>(request, [](wire::StartWorker::Reader start) {
    const std::string what = wire::text(start.getSpawn().getClass());
    const std::string fifo = wire::text(start.getSpawn().getLog());
    if (what == "exit 3") ::_exit(3);
    if (what == "describe") tell(fifo, describe_self());
    if (what == "daemon") leave_daemon(fifo);
    if (what == "stays") tell(fifo, std::to_string(::getpid()));
    while (what != "describe") ::pause();
  });
  ::_exit(0);
}

int be_fork_server() {
  const std::string how = std::getenv("RT_TEST_SERVER") ? std::getenv("RT_TEST_SERVER") : "";
  if (how == "ends") return 5;
  if (how == "hangs") ::pause();
  std::thread extra;
  if (how == "has a thread") extra = std::thread([] { ::pause(); });
  be_child(serve_forks([] { std::thread([] {}).join(); }));  // a warm-up may use a thread that it ends
}

// --- in the test -------------------------------------------------------------------------------------------------

class ForkServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(adopt_orphans());
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    keeps_it_open = *open_file(fifo, O_RDWR);
    lines.open(fifo);
  }
  void TearDown() override {
    server.reset();
    EXPECT_TRUE(kill_descendants({}, std::chrono::seconds(10)));
  }
  void start(const std::string& how = "", std::chrono::milliseconds deadline = std::chrono::minutes(1)) {
    auto link = ForkServerLink::start(
        io,
        {.program = fs::read_symlink("/proc/self/exe"),
         .environment = {"RT_TEST_SERVER=" + how},
         .log = folder.path() / "log",
         .ready_deadline = deadline},
        {.on_forked = [this](wire::Forked::Reader f) { forked.push_back(static_cast<pid_t>(f.getPid())); },
         .on_exited = [this](pid_t pid, int status) { exited.emplace_back(pid, status); },
         .on_lost = [this](const Error& error) { lost.push_back(error); }});
    ASSERT_TRUE(link) << link.error().message;
    server = *std::move(link);
  }
  std::string fork_request(const std::string& what) const {
    capnp::MallocMessageBuilder builder;
    auto start = builder.initRoot<wire::Control>().initFork();
    start.initSpawn().setClass(what);
    start.getSpawn().setLog(fifo);
    return wire::to_bytes(builder);
  }
  void fork(const std::string& what) { server->fork(fork_request(what)); }
  template <class Done>
  void run_until(Done&& done) {
    while (!done() && lost.empty() && io.run_one() > 0) {
    }
    ASSERT_TRUE(done()) << (lost.empty() ? "the event loop ended" : lost.front().message);
  }
  std::string next_line() {
    std::string line;
    std::getline(lines, line);
    return line;
  }

  const TemporaryFolder folder;
  const std::string fifo = folder.path() / "fifo";
  Fd keeps_it_open;
  std::ifstream lines;
  boost::asio::io_context io{1};
  std::unique_ptr<ForkServerLink> server;
  std::vector<pid_t> forked;
  std::vector<std::pair<pid_t, int>> exited;
  std::vector<Error> lost;
};

bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

TEST_F(ForkServerTest, ForksAtOnceWhatWasAskedBeforeItWasReadyAndTellsHowItEnded) {
  start();
  fork("exit 3");
  fork("exit 3");
  run_until([&] { return exited.size() == 2; });
  ASSERT_EQ(forked.size(), 2);
  for (const auto& [pid, status] : exited) {
    EXPECT_THAT(forked, testing::Contains(pid));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3);
  }
}

// Its fork server's socket and its siblings' are not a child's business: one that it held would hide a death.
TEST_F(ForkServerTest, AChildBeginsWithoutSocketsAndWithFreeSignals) {
  start();
  fork("stays");
  run_until([&] { return forked.size() == 1; });
  next_line();
  fork("describe");
  run_until([&] { return exited.size() == 1; });
  EXPECT_EQ(next_line(), "0 sockets, SIGCHLD free, leads");
}

TEST_F(ForkServerTest, ADeathIsToldOnceTheWholeTreeIsDead) {
  start();
  fork("daemon");
  run_until([&] { return forked.size() == 1; });
  const pid_t daemon = std::stoi(next_line());
  EXPECT_FALSE(is_gone(daemon));
  server->kill_tree(forked.front());
  run_until([&] { return exited.size() == 1; });
  EXPECT_TRUE(WIFSIGNALED(exited.front().second) && WTERMSIG(exited.front().second) == SIGKILL);
  EXPECT_TRUE(is_gone(daemon));
  EXPECT_TRUE(is_gone(forked.front()));
}

TEST_F(ForkServerTest, WhatADeadChildLeftBehindDiesToo) {
  start();
  fork("daemon");
  fork("stays");
  run_until([&] { return forked.size() == 2; });
  const pid_t one = std::stoi(next_line()), other = std::stoi(next_line());
  const pid_t stays = forked[1], daemon = one == stays ? other : one;
  ::kill(forked[0], SIGKILL);  // itself alone: what it left falls to the fork server
  run_until([&] { return exited.size() == 1; });
  EXPECT_TRUE(is_gone(daemon));
  EXPECT_FALSE(is_gone(stays)) << "a sibling is no orphan";
}

TEST_F(ForkServerTest, KillsOnlyChildrenOfItsOwn) {
  start();
  fork("stays");
  run_until([&] { return forked.size() == 1; });
  next_line();
  const auto stranger = spawn_process({.argv = {"/bin/sleep", "1000"}});
  ASSERT_TRUE(stranger);
  server->kill_tree(*stranger);
  server->kill_tree(forked.front());
  run_until([&] { return exited.size() == 1; });
  EXPECT_FALSE(is_gone(*stranger));
}

// Without the link, which would kill the program itself.
TEST_F(ForkServerTest, EndsWithAllOfItsTreesWhenTheAgentIsGone) {
  auto [agent, theirs] = socket_pair().get();
  const auto program = spawn_process({.argv = {fs::read_symlink("/proc/self/exe")},
                                      .environment = environment_with({"RT_ROLE=fork_server", "RT_FORK_FD=3"}),
                                      .log = folder.path() / "log",
                                      .inherit_fd = theirs.get()});
  ASSERT_TRUE(program) << program.error().message;
  theirs.reset();
  ASSERT_TRUE(write_control(agent.get(), fork_request("daemon")));
  const pid_t daemon = std::stoi(next_line());
  agent.reset();
  int status = 0;
  ASSERT_EQ(::waitpid(*program, &status, 0), *program);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(is_gone(daemon));
}

struct Refusal {
  const char* how;
  std::chrono::milliseconds deadline;
  const char* said;
};

class ForkServerRefusal : public ForkServerTest, public testing::WithParamInterface<Refusal> {};

TEST_P(ForkServerRefusal, IsToldOnceWithItsReason) {
  start(GetParam().how, GetParam().deadline);
  fork("exit 3");
  while (lost.empty() && io.run_one() > 0) {
  }
  ASSERT_EQ(lost.size(), 1);
  EXPECT_THAT(lost.front().message, HasSubstr(GetParam().said));
  EXPECT_NE(lost.front().code, Code::Unavailable) << "the program is at fault";
  EXPECT_THAT(lost.front().message, HasSubstr("its output: " + (folder.path() / "log").string()));
  const pid_t pid = server->pid();
  server.reset();
  EXPECT_TRUE(is_gone(pid));
  io.poll();
  EXPECT_EQ(lost.size(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, ForkServerRefusal,
    testing::Values(Refusal{"ends", std::chrono::minutes(1), "it ended with exit code 5 before it reached rt::connect"},
                    Refusal{"hangs", std::chrono::milliseconds(50), "it did not reach rt::connect within 50 ms"},
                    Refusal{"has a thread", std::chrono::minutes(1),
                            "it has other threads when it reaches rt::connect: "}),
    [](const auto& info) {
      std::string name = info.param.how;
      for (char& c : name)
        if (c == ' ') c = '_';
      return name;
    });

TEST_F(ForkServerTest, AKilledProgramIsNamedWithItsSignal) {
  start();
  fork("exit 3");
  run_until([&] { return exited.size() == 1; });
  ::kill(server->pid(), SIGKILL);
  while (lost.empty() && io.run_one() > 0) {
  }
  EXPECT_THAT(lost.front().message, HasSubstr("signal 9 ended it (its output"));
  EXPECT_EQ(lost.front().code, Code::Unavailable) << "another start may succeed";
}

TEST(ForkServerLinkStart, SaysWhatCannotBeRun) {
  boost::asio::io_context io{1};
  const auto link = ForkServerLink::start(io, {.program = "/no/such/program"}, {});
  ASSERT_FALSE(link);
  EXPECT_THAT(link.error().message, HasSubstr("cannot run '/no/such/program'"));
}

}  // namespace
}  // namespace rt

// A copy of this program as fork server never comes to the tests.
int main(int argc, char** argv) {
  if (rt::is_fork_server()) return rt::be_fork_server();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
