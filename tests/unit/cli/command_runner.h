#ifndef EMBD_TESTS_UNIT_CLI_COMMAND_RUNNER_H_
#define EMBD_TESTS_UNIT_CLI_COMMAND_RUNNER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/cli/commands/command_line.h"
#include "embd/client/fake_transport.h"

namespace embd::cli::testing {

/// What a run of embdctl left behind.
struct Result {
  int code = 0;
  std::string out;
  std::string err;
};

/// Runs embdctl against a fake that serves
///   tiny   V 3, D 2, L 4: token row i is (2i, 2i + 1), position row p is (10p, -10p); words king, queen, man
///   plain  V 3, D 2, the same token table, no positions, no words
/// in a world whose clock moves only when something sleeps, and whose steady time goes on by a millisecond with each
/// look at it.
class CommandRunner {
 public:
  CommandRunner() {
    const std::vector<float> token = {0, 1, 2, 3, 4, 5};
    fake->AddModel({.name = "tiny",
                    .embedding_dim = 2,
                    .token = token,
                    .position = {0, 0, 10, -10, 20, -20, 30, -30},
                    .vocabulary = {"king", "queen", "man"}});
    fake->AddModel({.name = "plain", .embedding_dim = 2, .token = token});
  }

  Result Run(const std::vector<std::string>& arguments, const std::string& standard_input = "") {
    std::istringstream in(standard_input);
    std::ostringstream out;
    std::ostringstream err;
    const Surroundings world{
        .in = in,
        .out = out,
        .err = err,
        .connect = [this](const std::string& to, const client::ClientOptions& given) -> absl::StatusOr<client::Client> {
          address = to;
          timeout = given.timeout;
          options = given;
          max_attempts = given.max_attempts;
          ++connects;
          if (to == "nonsense") return absl::InvalidArgumentError("no address");
          return client::Client(fake);
        },
        .now = [this] { return now; },
        .sleep = [this](absl::Duration time) { now += time; },
        .steady = [this] { return looks.fetch_add(1) * absl::Milliseconds(1); },
        .interrupted = [this] { return interrupted; },
        .err_is_terminal = err_is_terminal,
        .out_is_terminal = out_is_terminal};
    const int code = RunCommandLine(arguments, world);
    return {.code = code, .out = out.str(), .err = err.str()};
  }

  std::shared_ptr<client::FakeTransport> fake = std::make_shared<client::FakeTransport>();
  std::string address;
  absl::Duration timeout;
  int max_attempts = 0;           ///< of the last connection
  client::ClientOptions options;  ///< of the last connection
  int connects = 0;
  absl::Time now = absl::UnixEpoch();
  std::atomic<std::int64_t> looks = 0;
  bool interrupted = false;
  bool err_is_terminal = false;
  bool out_is_terminal = false;
};

}  // namespace embd::cli::testing

#endif  // EMBD_TESTS_UNIT_CLI_COMMAND_RUNNER_H_
