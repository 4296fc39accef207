#include "server/observability/http_endpoint.h"

#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/http_exchange.h"
#include "tests/support/status_matchers.h"

namespace embd::observability {
namespace {

using ::embd::testing::HttpGet;
using ::embd::testing::RawConnection;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::unique_ptr<HttpEndpoint> Serve(std::map<std::string, HttpEndpoint::Page> pages) {
  return HttpEndpoint::Start({"127.0.0.1:0"}, std::move(pages)).value();
}

std::unique_ptr<HttpEndpoint> ServeOk() {
  return Serve({{"/healthz", [] { return HttpAnswer{.body = "ok\n"}; }}});
}

TEST(HttpEndpoint, ServesAPageUnderItsExactPath) {
  const auto endpoint = ServeOk();
  const std::string& address = endpoint->addresses()[0];

  EXPECT_THAT(HttpGet(address, "/healthz"), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("\r\n\r\nok\n")));
  for (const char* const path : {"/", "/healthz/", "/Healthz", "/../healthz", "//healthz"}) {
    EXPECT_THAT(HttpGet(address, path), StartsWith("HTTP/1.1 404 Not Found\r\n")) << path;
  }
}

TEST(HttpEndpoint, ServesEveryAddress) {
  const auto endpoint =
      HttpEndpoint::Start({"127.0.0.1:0", "localhost:0"}, {{"/a", [] { return HttpAnswer{.body = "a"}; }}}).value();

  ASSERT_EQ(endpoint->addresses().size(), 2U);
  EXPECT_THAT(HttpGet(endpoint->addresses()[0], "/a"), EndsWith("\r\n\r\na"));
  EXPECT_THAT(endpoint->addresses()[1], AllOf(StartsWith("localhost:"), ::testing::Not(EndsWith(":0"))));
}

TEST(HttpEndpoint, AddressThatIsTakenIsRefused) {
  const auto first = ServeOk();

  EXPECT_THAT(
      HttpEndpoint::Start(first->addresses(), {}),
      StatusIs(absl::StatusCode::kFailedPrecondition, AllOf(HasSubstr(first->addresses()[0]), HasSubstr("in use"))));
}

TEST(HttpEndpoint, RequestInPiecesIsAnswered) {
  const auto endpoint = ServeOk();
  RawConnection connection(endpoint->addresses()[0]);

  for (const char* const piece : {"GE", "T /hea", "lthz HTT", "P/1.1\r", "\n\r", "\n"}) connection.Send(piece);

  EXPECT_THAT(connection.ReadToEnd(), EndsWith("ok\n"));
}

TEST(HttpEndpoint, AnswerToARefusedRequestArrivesThoughItsBodyIsNotRead) {
  const auto endpoint = ServeOk();
  RawConnection connection(endpoint->addresses()[0]);

  connection.Send("POST /healthz HTTP/1.1\r\nContent-Length: 100000\r\n\r\n" + std::string(100000, 'x'));

  EXPECT_THAT(connection.ReadToEnd(), StartsWith("HTTP/1.1 405 "));
}

TEST(HttpEndpoint, SilentConnectionsKeepNobodyWaiting) {
  const auto endpoint = ServeOk();
  const std::string& address = endpoint->addresses()[0];
  std::vector<RawConnection> silent;
  for (std::size_t i = 0; i < 3 * HttpEndpoint::kMaxConnections; ++i) {
    silent.emplace_back(address);
    silent.back().Send("GET /healthz HT");
  }

  EXPECT_THAT(HttpGet(address, "/healthz"), EndsWith("ok\n"));
}

// Far more than sockets hold, so that what is not read must wait in the endpoint.
TEST(HttpEndpoint, ReaderThatDoesNotReadKeepsNobodyWaiting) {
  const std::string large(64U << 20, 'x');
  const auto endpoint = Serve(
      {{"/large", [&] { return HttpAnswer{.body = large}; }}, {"/healthz", [] { return HttpAnswer{.body = "ok\n"}; }}});
  RawConnection slow(endpoint->addresses()[0]);
  slow.Send("GET /large HTTP/1.1\r\n\r\n");

  EXPECT_THAT(HttpGet(endpoint->addresses()[0], "/healthz"), EndsWith("ok\n"));
  EXPECT_GT(slow.ReadToEnd().size(), large.size());
}

TEST(HttpEndpoint, OldestOfTooManyConnectionsMakesRoom) {
  const auto endpoint = ServeOk();
  const std::string& address = endpoint->addresses()[0];
  RawConnection oldest(address);
  std::vector<RawConnection> others;
  for (std::size_t i = 0; i < HttpEndpoint::kMaxConnections; ++i) others.emplace_back(address);

  EXPECT_TRUE(oldest.EndsWithoutAnswer());
  others.back().Send("GET /healthz HTTP/1.1\r\n\r\n");
  EXPECT_THAT(others.back().ReadToEnd(), EndsWith("ok\n"));
}

TEST(HttpEndpoint, ConnectionWithoutARequestIsEnded) {
  const auto endpoint = ServeOk();
  RawConnection silent(endpoint->addresses()[0]);

  EXPECT_TRUE(silent.EndsWithoutAnswer());
}

TEST(HttpEndpoint, PageThatFindsNoMemoryIsUnavailable) {
  const auto endpoint = Serve({{"/a", []() -> HttpAnswer { throw std::bad_alloc(); }}});

  EXPECT_THAT(HttpGet(endpoint->addresses()[0], "/a"), StartsWith("HTTP/1.1 503 "));
}

TEST(HttpEndpoint, EndsWithConnectionsOpen) {
  auto endpoint = ServeOk();
  RawConnection open(endpoint->addresses()[0]);

  endpoint.reset();

  EXPECT_TRUE(open.EndsWithoutAnswer());
}

}  // namespace
}  // namespace embd::observability
