#ifndef EMBD_CLIENT_CLI_COMMANDS_SESSION_H_
#define EMBD_CLIENT_CLI_COMMANDS_SESSION_H_

#include <functional>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/commands/outcome.h"
#include "client/cli/files/tensor.h"
#include "embd/client/client.h"

namespace embd::cli {

/// What embdctl touches of the world; tests bring their own.
struct Surroundings {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  std::function<absl::StatusOr<client::Client>(const std::string& address, const client::ClientOptions& options)>
      connect;
  std::function<absl::Time()> now;
  std::function<void(absl::Duration)> sleep;  ///< thread-safe
  /// Time since some fixed moment, which never goes back. Thread-safe.
  std::function<absl::Duration()> steady;
  /// Whether the user has asked for an end. From the first call on, a first Ctrl-C does that instead of ending the
  /// program, for commands that have something to say then.
  std::function<bool()> interrupted;
  bool err_is_terminal = false;  ///< whether progress may be drawn on `err`
  bool out_is_terminal = false;  ///< whether `out` may have colours and block graphics
};

/// What a command works with.
struct Session {
  const client::Client& client;
  const Surroundings& world;
  bool json = false;                              ///< --output json
  std::string server = {};                        ///< --server, where `client` asks
  absl::Duration timeout = absl::ZeroDuration();  ///< --timeout, which `client` has
  client::ClientOptions connection = {};          ///< what `client` was made with

  /// Prints one JSON value on standard output, see JsonText.
  void PrintJson(const nlohmann::ordered_json& value) const;

  /// Prints a JSON object that has members in the same way, with the tensor behind them, on one line.
  void PrintJson(const nlohmann::ordered_json& object, const std::string& name, TensorView tensor) const;

  /// Prints a line "embdctl: …" on standard error.
  void Note(const std::string& text) const;
};

/// The command that was chosen on the command line: one of the two is set, or none where none was chosen.
struct Action {
  std::function<Outcome(const Session&)> ask_server;
  std::function<Outcome(const Surroundings&)> run_alone;
};

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_SESSION_H_
