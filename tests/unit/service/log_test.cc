#include "server/observability/log.h"

#include <string>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::observability {
namespace {

using ::embd::testing::IsOk;
using ::testing::HasSubstr;

// The line of a request for a model of that name.
std::string LineOf(absl::string_view model) {
  EXPECT_THAT(SetLogLevel("debug"), IsOk());
  ::testing::internal::CaptureStderr();
  LogRequest({.rpc = "Embed", .model = model});
  std::string line = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(SetLogLevel("info"), IsOk());
  return line;
}

TEST(RequestLine, PlainValuesStandAsTheyAre) {
  EXPECT_THAT(LineOf("bert-base_v1.2"), HasSubstr(" model=bert-base_v1.2 "));
}

TEST(RequestLine, ValuesThatCouldBeMisreadAreQuotedAndEscaped) {
  EXPECT_THAT(LineOf("a b"), HasSubstr(R"( model="a b" )"));
  EXPECT_THAT(LineOf("a=b"), HasSubstr(R"( model="a=b" )"));
  EXPECT_THAT(LineOf("a\"b"), HasSubstr(R"( model="a\"b" )"));
  EXPECT_THAT(LineOf("a\nb"), HasSubstr(R"( model="a\nb" )"));
}

TEST(RequestLine, ControlAndNonAsciiBytesAreEscaped) {
  EXPECT_THAT(LineOf("\x1b[2J"), HasSubstr(R"( model="\x1b[2J" )"));
  EXPECT_THAT(LineOf("\x7f"), HasSubstr(R"( model="\x7f" )"));
  EXPECT_THAT(LineOf("\xe2\x80\xae"), HasSubstr(R"( model="\xe2\x80\xae" )"));
  EXPECT_THAT(LineOf("tab\there"), HasSubstr(R"( model="tab\there" )"));
}

}  // namespace
}  // namespace embd::observability
