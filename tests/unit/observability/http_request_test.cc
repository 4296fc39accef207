#include "server/observability/http_request.h"

#include <optional>
#include <string>

#include "gmock/gmock.h"

namespace embd::observability {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The status with which the whole request `text` is refused; 0 where it is not.
int RefusalOf(const std::string& text) {
  const std::optional<HttpRequest> request = ParseHttpRequest(text);
  return request.has_value() ? request->refusal.value_or(0) : -1;
}

TEST(HttpRequest, GetHasItsPath) {
  const auto request = ParseHttpRequest("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");

  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->refusal, std::nullopt);
  EXPECT_EQ(request->path, "/metrics");
  EXPECT_FALSE(request->is_head);
}

TEST(HttpRequest, QueryIsNoPartOfThePath) {
  EXPECT_EQ(ParseHttpRequest("GET /metrics?name[]=a HTTP/1.1\r\n\r\n")->path, "/metrics");
}

TEST(HttpRequest, HeadWantsTheHeadOnly) { EXPECT_TRUE(ParseHttpRequest("HEAD / HTTP/1.0\r\n\r\n")->is_head); }

TEST(HttpRequest, LinesMayEndWithoutCarriageReturn) {
  EXPECT_EQ(ParseHttpRequest("GET /a HTTP/1.1\nHost: a\n\n")->path, "/a");
}

TEST(HttpRequest, IsNothingBeforeItsHeadEnds) {
  const std::string whole = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(ParseHttpRequest(whole.substr(0, size)), std::nullopt) << size;
  }
}

TEST(HttpRequest, OtherMethodsAreRefused) {
  for (const char* const method : {"POST", "PUT", "DELETE", "OPTIONS", "get"}) {
    EXPECT_EQ(RefusalOf(std::string(method) + " /metrics HTTP/1.1\r\n\r\n"), 405) << method;
  }
}

TEST(HttpRequest, WhatIsNoRequestIsRefused) {
  for (const char* const text :
       {"\r\n\r\n", "GET\r\n\r\n", "GET /a\r\n\r\n", "GET /a HTTP/2.0\r\n\r\n", "GET a HTTP/1.1\r\n\r\n",
        "GET  /a HTTP/1.1\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n", "GET /\x01 HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\n\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}) {
    EXPECT_EQ(RefusalOf(text), 400) << text;
  }
}

TEST(HttpRequest, BodyIsRefusedAndAnEmptyOneIsNot) {
  EXPECT_EQ(RefusalOf("GET /a HTTP/1.1\r\nContent-Length: 1\r\n\r\n"), 400);
  EXPECT_EQ(RefusalOf("GET /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(RefusalOf("GET /a HTTP/1.1\r\ncontent-length: 0\r\n\r\n"), 0);
}

TEST(HttpRequest, HeadThatIsTooLongIsRefusedWhetherItEndsOrNot) {
  const std::string begin = "GET /a HTTP/1.1\r\nX: " + std::string(kMaxHttpHeadBytes, 'x');

  EXPECT_EQ(RefusalOf(begin), 431);
  EXPECT_EQ(RefusalOf(begin + "\r\n\r\n"), 431);
}

TEST(HttpAnswer, HasItsLengthAndItsBody) {
  const std::string bytes = EncodeHttpAnswer({.status = 503, .body = "no\n"}, /*is_head=*/false);

  EXPECT_THAT(bytes, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_THAT(bytes, HasSubstr("\r\nContent-Length: 3\r\n"));
  EXPECT_THAT(bytes, EndsWith("\r\n\r\nno\n"));
}

TEST(HttpAnswer, HeadHasTheLengthWithoutTheBody) {
  const std::string bytes = EncodeHttpAnswer({.body = "body"}, /*is_head=*/true);

  EXPECT_THAT(bytes, HasSubstr("\r\nContent-Length: 4\r\n"));
  EXPECT_THAT(bytes, EndsWith("\r\n\r\n"));
}

TEST(HttpAnswer, OnlyARefusedMethodIsToldThoseThereAre) {
  EXPECT_THAT(EncodeHttpAnswer({.status = 405}, false), HasSubstr("\r\nAllow: GET, HEAD\r\n"));
  EXPECT_THAT(EncodeHttpAnswer({.status = 404}, false), Not(HasSubstr("Allow")));
}

}  // namespace
}  // namespace embd::observability
