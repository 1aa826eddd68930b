#include "rt/runtime/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "rt/runtime/base/temporary_folder.h"

namespace rt {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class LogTest : public ::testing::Test {
 protected:
  void TearDown() override { ASSERT_TRUE(log::start({})); }
  std::string written() const { return read_file(file).get(); }
  TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "log";
};

TEST_F(LogTest, WritesALineWithTimePidRoleAndLevelAtOnce) {
  ASSERT_TRUE(log::start({.file = file, .role = "head"}));
  log::warning("node {} has been silent for {} s", 3, 2);
  EXPECT_THAT(written(), MatchesRegex("20..-..-.. ..:..:..\\.... \\[" + std::to_string(::getpid()) +
                                      " head\\] warning: node 3 has been silent for 2 s\n"));
}

TEST_F(LogTest, LeavesOutWhatIsBelowItsLevel) {
  ASSERT_TRUE(log::start({.level = log::Level::Warning, .file = file}));
  log::debug("debug");
  log::info("info");
  log::warning("warning");
  log::error("error");
  EXPECT_THAT(written(), testing::AllOf(HasSubstr("warning: warning"), HasSubstr("error: error")));
  EXPECT_THAT(written(), testing::Not(HasSubstr("info")));
}

TEST_F(LogTest, AMessageIsNotAFormat) {
  ASSERT_TRUE(log::start({.file = file}));
  log::write(log::Level::Info, "100 % {}");
  EXPECT_THAT(written(), HasSubstr("info: 100 % {}"));
}

TEST_F(LogTest, AppendsToAFileThatIsThere) {
  ASSERT_TRUE(write_file_atomic(file, "before\n"));
  ASSERT_TRUE(log::start({.file = file}));
  log::info("after");
  EXPECT_THAT(written(), testing::StartsWith("before\n"));
}

TEST_F(LogTest, SaysWhyAFileCannotBeWrittenAndKeepsTheLogBefore) {
  ASSERT_TRUE(log::start({.file = file}));
  const Status failed = log::start({.file = folder.path() / "missing" / "log"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::NotFound);
  log::info("still here");
  EXPECT_THAT(written(), HasSubstr("still here"));
}

TEST(LogLevel, IsParsedFromItsName) {
  EXPECT_EQ(log::parse_level("warning").get(), log::Level::Warning);
  EXPECT_EQ(log::parse_level("loud").error().message,
            "'loud' is no log level: write one of debug, info, warning, error, off");
}

}  // namespace
}  // namespace rt
