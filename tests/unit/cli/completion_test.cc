#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/cli/command_runner.h"

namespace embd::cli {
namespace {

using testing::CommandRunner;
using ::testing::HasSubstr;
using ::testing::Not;

class BashCompletion : public ::testing::Test {
 protected:
  BashCompletion() {
    const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    script_ = std::filesystem::path(::testing::TempDir()) / absl::StrCat("cli_completion_", info->name(), ".bash");
    std::ofstream(script_) << runner_.Run({"completion", "bash"}).out;
  }
  ~BashCompletion() override { std::filesystem::remove(script_); }

  // What bash offers for the last of `words`, blanks between.
  std::string Offers(const std::string& words) const {
    const std::string command =
        absl::StrCat("bash -c 'source ", script_.string(), " && COMP_WORDS=(", words,
                     ") COMP_CWORD=$((${#COMP_WORDS[@]}-1)) && _embdctl && echo \" ${COMPREPLY[*]} \"' 2>&1");
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string text;
    char buffer[512];
    while (std::fgets(buffer, sizeof(buffer), pipe.get()) != nullptr) text += buffer;
    return text;
  }

  CommandRunner runner_;
  std::filesystem::path script_;
};

TEST_F(BashCompletion, OffersCommands) {
  EXPECT_EQ(Offers("embdctl com"), " compare completion \n");
  EXPECT_EQ(Offers("embdctl --server host:1 mod"), " models \n");
}

TEST_F(BashCompletion, OffersTheOptionsOfTheCommandAndTheGlobalOnes) {
  EXPECT_THAT(Offers("embdctl embed m --"), HasSubstr(" --ids-file "));
  EXPECT_THAT(Offers("embdctl embed m --"), HasSubstr(" --timeout "));
  EXPECT_THAT(Offers("embdctl verify m --"), HasSubstr(" --against "));
  EXPECT_THAT(Offers("embdctl health --"), Not(HasSubstr(" --ids-file ")));
}

TEST_F(BashCompletion, OffersTheValuesOfAnOption) {
  EXPECT_EQ(Offers("embdctl embed m --dtype f"), " float32 float16 \n");
  EXPECT_EQ(Offers("embdctl verify m --padding-side l"), " left \n");
  EXPECT_EQ(Offers("embdctl embed m --ragged p"), " padded packed \n");
  EXPECT_EQ(Offers("embdctl --output j"), " json \n");
  EXPECT_EQ(Offers("embdctl bench m --mode s"), " stream \n");
}

TEST_F(BashCompletion, OffersNothingForAFreeValue) { EXPECT_EQ(Offers("embdctl embed m --offset 1"), "  \n"); }

}  // namespace
}  // namespace embd::cli
