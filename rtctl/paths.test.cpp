#include "rt/rtctl/paths.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace rt {
namespace {

// What a shell makes of `word`.
std::string read_by_a_shell(const std::string& word) {
  FILE* const shell = ::popen(("printf %s " + word).c_str(), "r");
  std::string text(200, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), shell));
  ::pclose(shell);
  return text;
}

TEST(Quoted, AShellTakesThePathBackAsItIs) {
  for (const char* path :
       {"/tmp/a b", "/tmp/it's", "/tmp/$HOME`id`", "/tmp/a\"b\\c", "~x", "/tmp/*?[a]", "/a\n/b", "/ä#&;|<>()"})
    EXPECT_EQ(read_by_a_shell(quoted(path)), path);
}

TEST(Quoted, APlainPathStaysPlain) {
  for (const char* path : {"/home/me/rt-results/digits-20261130-153007", "/a_b/c.d+e=1,2:3@4%5"})
    EXPECT_EQ(quoted(path), path);
}

}  // namespace
}  // namespace rt
