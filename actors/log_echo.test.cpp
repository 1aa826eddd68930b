#include "rt/actors/log_echo.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <regex>
#include <thread>

#include "rt/runtime/base/temporary_folder.h"

namespace rt {
namespace {

using testing::HasSubstr;

class LogEchoTest : public ::testing::Test {
 protected:
  LogEchoTest() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    from_ = Fd(ends[0]);
    to_ = Fd(ends[1]);
    echo = *LogEcho::start(to_.get());
  }
  std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::app) << text << std::flush;
  }
  // What was echoed next, as long as it is shorter than that.
  std::string next(std::size_t bytes) {
    std::string text(bytes, '\0');
    std::size_t got = 0;
    while (got < bytes) {
      const ssize_t count = ::read(from_.get(), text.data() + got, bytes - got);
      if (count <= 0) break;
      got += static_cast<std::size_t>(count);
    }
    text.resize(got);
    return text;
  }
  std::string rest() {
    echo->finish();
    to_.reset();
    return next(std::size_t{1} << 24);
  }
  TemporaryFolder folder;
  Fd from_, to_;
  std::unique_ptr<LogEcho> echo;
};

TEST_F(LogEchoTest, LinesComeWholeWithTheirNamesAsTheyAreWritten) {
  write("a", "one\nt");
  echo->follow({.path = path("a"), .name = "a 1"});
  EXPECT_EQ(next(10), "[a 1] one\n");
  write("a", "wo\nthree");
  EXPECT_EQ(next(10), "[a 1] two\n");
  EXPECT_EQ(rest(), "[a 1] three\n") << "what has no end is written at the end";
}

TEST_F(LogEchoTest, ARestartsLinesCarryItsOwnName) {
  write("a", "first\nhalf");
  echo->follow({.path = path("a"), .name = "a 1"});
  EXPECT_EQ(next(12), "[a 1] first\n");
  echo->follow({.path = path("a"), .name = "a 2", .begin = 10});
  write("a", "again\n");
  EXPECT_EQ(rest(), "[a 1] half\n[a 2] again\n");
}

TEST_F(LogEchoTest, AFloodSaysHowManyLinesWereLeftOut) {
  const std::string line(99, 'x');
  constexpr std::size_t kLines = 60'000;  // of 100 bytes: more than it keeps up with
  std::string text;
  for (std::size_t i = 0; i < kLines; ++i) text += line + "\n";
  write("a", text);
  echo->follow({.path = path("a"), .name = "a 1"});
  std::thread reader;
  std::string said;
  reader = std::thread([&] { said = next(std::size_t{1} << 24); });
  echo->finish();
  to_.reset();
  reader.join();
  std::smatch left_out;
  ASSERT_TRUE(std::regex_search(said, left_out, std::regex("\\((\\d+) lines left out here")));
  const auto echoed = std::count(said.begin(), said.end(), '\n') - 1;
  EXPECT_EQ(std::stoul(left_out[1]) + static_cast<std::size_t>(echoed), kLines);
  EXPECT_LE(said.size(), LogEcho::kKept + (std::size_t{16} << 10));
}

TEST_F(LogEchoTest, AStreamThatIsClosedEndsTheEchoNotTheProgram) {
  const auto before = std::signal(SIGPIPE, SIG_DFL);  // it would end this program
  from_.reset();
  write("a", "one\n");
  echo->follow({.path = path("a"), .name = "a 1"});
  echo->finish();
  sigset_t pending;
  ASSERT_EQ(::sigpending(&pending), 0);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0) << "nor does it wait for a thread that lets it in";
  std::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace rt
