// What server.connections says, seen from outside: by a connection that speaks HTTP/2 by hand.

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "tests/support/served_models.h"

namespace embd {
namespace {

using ::embd::testing::ServedModels;
using ::testing::HasSubstr;

using Clock = std::chrono::steady_clock;

const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::string Frame(char type, char flags, const std::string& payload) {
  const auto size = static_cast<char>(payload.size());
  return std::string({'\0', '\0', size, type, flags, '\0', '\0', '\0', '\0'}) + payload;
}

const std::string kSettings = Frame(4, 0, "");
const std::string kPing = Frame(6, 0, "01234567");

// A connection to 127.0.0.1 that does nothing by itself.
class RawConnection {
 public:
  explicit RawConnection(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) std::abort();
  }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;
  ~RawConnection() { close(socket_); }

  void Send(const std::string& bytes) { (void)send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

  // All that comes until the server closes the connection, or `limit` has passed.
  std::string ReadToEnd(std::chrono::seconds limit = std::chrono::seconds(20)) {
    std::string all;
    const Clock::time_point end = Clock::now() + limit;
    while (!closed_) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
      pollfd ready = {.fd = socket_, .events = POLLIN, .revents = 0};
      if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) break;
      std::array<char, 4096> part = {};
      const ssize_t count = recv(socket_, part.data(), part.size(), 0);
      closed_ = count <= 0;
      if (count > 0) all.append(part.data(), static_cast<std::size_t>(count));
    }
    return all;
  }

  [[nodiscard]] bool closed() const { return closed_; }

 private:
  int socket_;
  bool closed_ = false;
};

config::ServerConfig Config(const config::Connections& connections) {
  return {.connections = connections, .models = {testing::SmallModel("m", 10, 4, 0)}};
}

// How long the server keeps a connection that sends `bytes` and then nothing.
std::chrono::milliseconds KeptFor(const config::Connections& connections, const std::string& bytes) {
  ServedModels served(Config(connections));
  RawConnection connection(served.server().port());
  const Clock::time_point start = Clock::now();
  connection.Send(bytes);
  connection.ReadToEnd();
  EXPECT_TRUE(connection.closed());
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
}

TEST(Connections, ThatNeverSpeakAreClosedAfterTheHandshakeTimeout) {
  EXPECT_GE(KeptFor({.handshake_timeout = 1}, "").count(), 900);
}

TEST(Connections, ThatBeginToSpeakAndStopAreClosedAfterTheHandshakeTimeout) {
  EXPECT_GE(KeptFor({.handshake_timeout = 1}, kPreface.substr(0, 10)).count(), 900);
}

TEST(Connections, ThatDoNotAnswerAPingAreClosed) {
  EXPECT_GE(KeptFor({.keepalive_time = 1, .keepalive_timeout = 1}, kPreface + kSettings).count(), 1900);
}

TEST(Connections, WithoutCallsAreClosedAfterMaxIdle) {
  ServedModels served(Config({.max_idle = 1}));
  RawConnection connection(served.server().port());
  connection.Send(kPreface + kSettings);

  EXPECT_THAT(connection.ReadToEnd(), HasSubstr("enter idle"));  // gRPC's words of the GOAWAY
  EXPECT_TRUE(connection.closed());
}

TEST(Connections, ThatAreOldAreAskedToCloseAndThenClosed) {
  ServedModels served(Config({.max_age = 1, .max_age_grace = 1}));
  RawConnection connection(served.server().port());
  connection.Send(kPreface + kSettings);

  // The first of two GOAWAYs, which lets calls that are on their way come in: last stream 2^31 - 1, NO_ERROR.
  EXPECT_THAT(connection.ReadToEnd(), HasSubstr(std::string("\x7F\xFF\xFF\xFF\0\0\0\0", 8)));
  EXPECT_TRUE(connection.closed());
}

TEST(Connections, ThatPingTooOftenAreSentAway) {
  ServedModels served(Config({.min_ping_interval = 60}));
  RawConnection connection(served.server().port());
  connection.Send(kPreface + kSettings + kPing + kPing + kPing + kPing);

  EXPECT_THAT(connection.ReadToEnd(), HasSubstr("too_many_pings"));
  EXPECT_TRUE(connection.closed());
}

TEST(Connections, MayPingAsOftenAsTheConfigurationSays) {
  ServedModels served(Config({.min_ping_interval = 0}));
  RawConnection connection(served.server().port());
  std::string pings = kPreface + kSettings;
  for (int i = 0; i < 50; ++i) pings += kPing;
  connection.Send(pings);

  EXPECT_EQ(connection.ReadToEnd(std::chrono::seconds(1)).find("too_many_pings"), std::string::npos);
  EXPECT_FALSE(connection.closed());
}

}  // namespace
}  // namespace embd
