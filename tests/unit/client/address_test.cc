#include "client/src/address.h"

#include <string>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::client {
namespace {

using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

TEST(Address, OfEveryKindHasItsTarget) {
  const struct {
    std::string address;
    std::string target;
  } cases[] = {
      {"localhost:8001", "dns:///localhost:8001"},
      {"10.0.0.1:8001", "dns:///10.0.0.1:8001"},
      {"[::1]:8001", "dns:///[::1]:8001"},
      {"10.0.0.1:8001,10.0.0.2:8001", "ipv4:10.0.0.1:8001,10.0.0.2:8001"},
      {"[::1]:8001,[::2]:8001", "ipv6:[::1]:8001,[::2]:8001"},
      {"ipv4:10.0.0.1:1,10.0.0.2:2", "ipv4:10.0.0.1:1,10.0.0.2:2"},
      {"unix:/run/embd.sock", "unix:/run/embd.sock"},
      {"unix:///run/embd.sock", "unix:///run/embd.sock"},
      {"unix-abstract:embd", "unix-abstract:embd"},
      {"dns:///embd.example:8001", "dns:///embd.example:8001"},
      {"dns:embd.example:8001", "dns:embd.example:8001"},
      {"dns://10.0.0.9/embd.example:8001", "dns://10.0.0.9/embd.example:8001"},
      {"ipv6:[::1]:8001", "ipv6:[::1]:8001"},
  };
  for (const auto& [address, target] : cases) {
    SCOPED_TRACE(address);

    ASSERT_OK_AND_ASSIGN(const std::string result, TargetOf(address));

    EXPECT_EQ(result, target);
  }
}

TEST(Address, WithASchemeIsCheckedAsWithoutOne) {
  const struct {
    std::string address;
    std::string message;
  } cases[] = {
      {"ipv4:1.2.3.4", "has no port"},
      {"ipv4:1.2.3.4:0", "has no port from 1 to 65535"},
      {"ipv4:localhost:8001", "no IPv4 address"},
      {"ipv4:[::1]:8001", "no IPv4 address"},
      {"ipv4:", "has no port"},
      {"ipv6:[::1]", "has no port from 1 to 65535"},
      {"ipv6:10.0.0.1:8001", "no IPv6 address"},
      {"dns:///localhost", "has no port"},
      {"dns:localhost", "has no port"},
      {"dns:///:8001", "has no host"},
      {"dns://localhost:8001", "has no host"},
      {"dns:8001", "has no port"},
  };
  for (const auto& [address, message] : cases) {
    SCOPED_TRACE(address);

    EXPECT_THAT(TargetOf(address), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
}

TEST(Address, HasAPortOfDigitsOnly) {
  for (const char* address : {"a:+80", "a: 80", "a:80 ", "a:8\t0", "a:-1"}) {
    SCOPED_TRACE(address);

    EXPECT_THAT(TargetOf(address), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("from 1 to 65535")));
  }
}

TEST(Address, ThatIsNoneIsRefusedAndSaysWhatIsMissing) {
  const struct {
    std::string address;
    std::string message;
  } cases[] = {
      {"", "is empty"},
      {"localhost", "has no port"},
      {"localhost:", "has no port from 1 to 65535"},
      {"localhost:0", "has no port from 1 to 65535"},
      {"localhost:65536", "has no port from 1 to 65535"},
      {"localhost:http", "has no port from 1 to 65535"},
      {":8001", "has no host"},
      {"::1:8001", "brackets"},
      {"[::1]", "has no port from 1 to 65535"},
      {"[localhost]:8001", "brackets"},
      {"a b:8001", "no name"},
      {"unix:", "nothing after its scheme"},
      {"http://localhost:8001", "scheme"},
      {"10.0.0.1:8001,", "has no port"},
      {"10.0.0.1:8001,[::1]:8001", "lists"},
      {"a:8001,b:8001", "lists"},
  };
  for (const auto& [address, message] : cases) {
    SCOPED_TRACE(address);

    EXPECT_THAT(TargetOf(address), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
}

}  // namespace
}  // namespace embd::client
