#include "server/observability/log.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
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

// What is written while requests with these ids end, at "info".
std::string LinesOf(double share, const std::vector<CallNames>& calls) {
  SetAccessSample(share);
  ::testing::internal::CaptureStderr();
  for (const CallNames& names : calls) LogRequest({.names = names, .rpc = "Embed"});
  std::string lines = ::testing::internal::GetCapturedStderr();
  SetAccessSample(0);
  return lines;
}

std::vector<CallNames> Calls(int count) {
  std::vector<CallNames> calls;
  for (int i = 0; i < count; ++i) calls.push_back({.request_id = absl::StrCat("r", i)});
  return calls;
}

TEST(AccessSample, NothingIsLoggedWithoutAShare) {
  EXPECT_EQ(LinesOf(0, Calls(100)), "");
  EXPECT_FALSE(LogsRequests());
}

TEST(AccessSample, EverythingIsLoggedAtOne) {
  const std::string lines = LinesOf(1, Calls(100));

  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 100);
  EXPECT_THAT(lines, HasSubstr(" info request request_id=r0 rpc=Embed "));
}

// The bound is six standard deviations of a fair choice.
TEST(AccessSample, ShareIsKept) {
  const std::string lines = LinesOf(0.25, Calls(10'000));

  EXPECT_NEAR(static_cast<double>(std::count(lines.begin(), lines.end(), '\n')), 2500, 260);
}

TEST(AccessSample, SameTraceIsAlwaysSampledOrNever) {
  for (int i = 0; i < 20; ++i) {
    const std::string trace = absl::StrCat("4bf92f3577b34da6a3ce929d0e0e47", 10 + i);

    const std::string lines =
        LinesOf(0.5, {{.request_id = "a", .trace_id = trace}, {.request_id = "b", .trace_id = trace}});

    EXPECT_THAT(std::count(lines.begin(), lines.end(), '\n'), ::testing::AnyOf(0, 2)) << trace;
  }
}

TEST(RequestLine, HasIdsOfRequestTraceAndSpan) {
  EXPECT_THAT(LinesOf(1, {{.request_id = "r", .trace_id = "t", .span_id = "s"}}),
              HasSubstr("request request_id=r trace_id=t span_id=s rpc=Embed"));
}

TEST(RequestLine, IsOneJsonObjectWhereTheFormatIsJson) {
  SetLogFormat(LogFormat::kJson);
  const std::string line = LineOf("a\"\n\xff");
  SetLogFormat(LogFormat::kText);

  EXPECT_THAT(line, ::testing::StartsWith("{\"time\":\""));
  EXPECT_THAT(line, HasSubstr("\"model\":\"a\\\"\\n\xEF\xBF\xBD\""));
  EXPECT_THAT(line, ::testing::EndsWith("\"code\":\"OK\"}\n"));
}

TEST(InternalError, IsLoggedWithTheIdsOfItsCallWhateverIsSampled) {
  ::testing::internal::CaptureStderr();
  LogInternalError({.request_id = "r", .trace_id = "t", .span_id = "s"}, "Embed", absl::InternalError("why"));

  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr(R"(error internal error request_id=r trace_id=t span_id=s rpc=Embed error="INTERNAL: why")"));
}

TEST(NewRequestId, IsNeverTheSame) {
  std::set<std::string> ids;
  for (int i = 0; i < 10'000; ++i) ids.insert(NewRequestId());

  EXPECT_EQ(ids.size(), 10'000U);
  EXPECT_THAT(*ids.begin(), ::testing::MatchesRegex("[0-9a-f]{16}"));
}

// For the thread sanitizer.
TEST(Log, SettingsMayChangeWhileOthersLog) {
  ::testing::internal::CaptureStderr();
  {
    const std::jthread logs([] {
      for (int i = 0; i < 1000; ++i) LogRequest({.names = {.request_id = "r"}, .rpc = "Embed"});
    });
    for (int i = 0; i < 1000; ++i) {
      SetLogFormat(i % 2 == 0 ? LogFormat::kJson : LogFormat::kText);
      SetAccessSample(i % 3 == 0 ? 0 : 1);
      EXPECT_THAT(SetLogLevel(i % 5 == 0 ? "warn" : "info"), IsOk());
    }
  }
  SetAccessSample(0);
  SetLogFormat(LogFormat::kText);
  EXPECT_THAT(SetLogLevel("info"), IsOk());
  std::istringstream lines(::testing::internal::GetCapturedStderr());
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.front() == '2' || (line.front() == '{' && line.back() == '}')) << line;
  }
}

}  // namespace
}  // namespace embd::observability
