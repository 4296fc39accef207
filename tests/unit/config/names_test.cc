#include "server/config/names.h"

#include "gmock/gmock.h"

namespace embd::config {
namespace {

using ::testing::AllOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Ne;
using ::testing::Optional;

TEST(ModelName, AllowsLettersDigitsAndThreeSigns) {
  for (const std::string& name :
       {std::string("a"), std::string("GPT-2_small.v1"), std::string("0"), std::string(128, 'x')}) {
    EXPECT_THAT(FaultOfModelName(name), Eq(std::nullopt)) << name;
  }
}

TEST(ModelName, RefusesEverythingElseAndSaysWhatIsAllowed) {
  for (const std::string& name :
       {std::string(), std::string("-a"), std::string(".a"), std::string("a/b"), std::string("a b"),
        std::string("k\xc3\xb6nig"), std::string("a\0", 2), std::string(129, 'x')}) {
    EXPECT_THAT(FaultOfModelName(name), Optional(HasSubstr("must be 1 to 128 letters, digits"))) << name;
  }
}

TEST(ModelName, RefusesTheBeginningsOfServiceNames) {
  for (const char* name : {"embd.v1.EmbeddingService", "inference.x", "grpc.health.v1.Health"}) {
    EXPECT_THAT(FaultOfModelName(name), Optional(AllOf(HasSubstr("must not begin with"), HasSubstr(name)))) << name;
  }
  EXPECT_THAT(FaultOfModelName("embd.v10"), Eq(std::nullopt));
}

TEST(ListenAddress, AllowsHostsAndPorts) {
  for (const char* address : {"127.0.0.1:8001", "0.0.0.0:0", "localhost:65535", "a-b.example_1:1", "1a.example:1"}) {
    EXPECT_THAT(FaultOfListenAddress(address), Eq(std::nullopt)) << address;
  }
}

TEST(ListenAddress, AllowsIpv6InBrackets) {
  EXPECT_THAT(FaultOfListenAddress("[::1]:8001"), Eq(std::nullopt));
  EXPECT_THAT(FaultOfListenAddress("[::]:0"), Eq(std::nullopt));
}

TEST(ListenAddress, AllowsAbsoluteAndRelativeSocketPaths) {
  EXPECT_THAT(FaultOfListenAddress("unix:/run/embd.sock"), Eq(std::nullopt));
  EXPECT_THAT(FaultOfListenAddress("unix:embd.sock"), Eq(std::nullopt));
}

TEST(ListenAddress, AllowsSocketPathsOf107BytesAndNoMore) {
  EXPECT_THAT(FaultOfListenAddress("unix:" + std::string(107, 'a')), Eq(std::nullopt));
  EXPECT_THAT(FaultOfListenAddress("unix:" + std::string(108, 'a')), Optional(HasSubstr("1 to 107 bytes")));
  EXPECT_THAT(FaultOfListenAddress("unix:"), Optional(HasSubstr("1 to 107 bytes")));
}

TEST(ListenAddress, RefusesEverythingElseAndSaysWhatIsAllowed) {
  for (const char* address : {"",
                              "8001",
                              ":8001",
                              "localhost",
                              "localhost:",
                              "127.0.0.1:65536",
                              "127.0.0.1:-1",
                              "127.0.0.1:+1",
                              "127.0.0.1:http",
                              "127.0.0.1:000001",
                              "127.0.0.1: 1",
                              "300.0.0.1:1",
                              "127.1:1",
                              "::1:8001",
                              "[::1]",
                              "[::1:8001",
                              "::1]:8001",
                              "[127.0.0.1]:1",
                              "[::g]:1",
                              "dns:localhost:1",
                              "http://localhost:1",
                              "a b:1",
                              "*:8001"}) {
    EXPECT_THAT(FaultOfListenAddress(address), Optional(HasSubstr("must be HOST:PORT, [IPV6]:PORT or unix:PATH")))
        << address;
  }
}

TEST(LogLevel, IsOneOfSix) {
  for (const char* level : {"trace", "debug", "info", "warn", "error", "off"}) {
    EXPECT_THAT(FaultOfLogLevel(level), Eq(std::nullopt)) << level;
  }
  EXPECT_THAT(FaultOfLogLevel("warning"),
              Optional(Eq("must be one of trace, debug, info, warn, error, off, got \"warning\"")));
  EXPECT_THAT(FaultOfLogLevel(""), Ne(std::nullopt));
}

}  // namespace
}  // namespace embd::config
