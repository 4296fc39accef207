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
  };
  for (const auto& [address, target] : cases) {
    SCOPED_TRACE(address);

    ASSERT_OK_AND_ASSIGN(const std::string result, TargetOf(address));

    EXPECT_EQ(result, target);
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
