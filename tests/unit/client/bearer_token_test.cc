#include "client/src/bearer_token.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "tests/support/eventually.h"
#include "tests/support/status_matchers.h"

namespace embd::client {
namespace {

using ::embd::testing::Eventually;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsNull;
using ::testing::Not;

class BearerTokenTest : public ::testing::Test {
 protected:
  BearerTokenTest() {
    std::string name = (std::filesystem::temp_directory_path() / "embd-token-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "token";
  }
  ~BearerTokenTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& text) const { std::ofstream(path_) << text; }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(BearerTokenTest, ThereIsNoneUnlessAskedFor) { EXPECT_THAT(BearerToken::Create({}).value(), IsNull()); }

TEST_F(BearerTokenTest, OfTheOptions) {
  EXPECT_EQ(BearerToken::Create({.token = "letters"}).value()->Header(), "Bearer letters");
}

TEST_F(BearerTokenTest, OfAFileWithoutSpacesAroundIt) {
  Write(" letters\r\n");

  EXPECT_EQ(BearerToken::Create({.token_file = path_}).value()->Header(), "Bearer letters");
}

TEST_F(BearerTokenTest, FileThatChangesIsReadAgain) {
  Write("before");
  const auto token = BearerToken::Create({.token_file = path_}).value();
  ASSERT_EQ(token->Header(), "Bearer before");

  Write("after");

  EXPECT_TRUE(Eventually([&token] { return token->Header() == "Bearer after"; }));
}

TEST_F(BearerTokenTest, FileThatCannotBeUsedLeavesTheTokenBefore) {
  Write("before");
  const auto token = BearerToken::Create({.token_file = path_}).value();
  Write("");
  const absl::Time end = absl::Now() + absl::Seconds(1.2);  // it is looked at once meanwhile
  while (absl::Now() < end) ASSERT_EQ(token->Header(), "Bearer before");

  Write("after");

  EXPECT_TRUE(Eventually([&token] { return token->Header() == "Bearer after"; }));
}

TEST_F(BearerTokenTest, FileThatCannotBeReadIsNamed) {
  EXPECT_THAT(BearerToken::Create({.token_file = path_}),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("token_file"), HasSubstr(path_))));
  EXPECT_THAT(BearerToken::Create({.token_file = folder_}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is no file")));
}

TEST_F(BearerTokenTest, WhatIsNoTokenIsRefusedAndNotShown) {
  for (const std::string text : {"two words", "lett\x01rs", "lett\xC3\xA9r", "two\nwords"}) {
    EXPECT_THAT(BearerToken::Create({.token = text}),
                StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("token must"), Not(HasSubstr(text)))));
    Write(text);
    EXPECT_THAT(BearerToken::Create({.token_file = path_}),
                StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("token_file"), Not(HasSubstr(text)))));
  }
  Write(" \n");
  EXPECT_THAT(BearerToken::Create({.token_file = path_}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("holds no token")));
}

TEST_F(BearerTokenTest, TokenAndFileTogetherAreRefused) {
  Write("letters");

  EXPECT_THAT(BearerToken::Create({.token = "letters", .token_file = path_}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("exclude each other")));
}

}  // namespace
}  // namespace embd::client
