#ifndef EMBD_CLIENT_CLI_COMMANDS_OUTCOME_H_
#define EMBD_CLIENT_CLI_COMMANDS_OUTCOME_H_

#include <string>

#include "absl/status/status.h"

namespace embd::cli {

/// What embdctl exits with; scripts rely on the numbers.
enum class ExitCode : int {
  kDone = 0,
  kRefused = 1,      ///< the server refused; for `health`: not serving, for `verify`: different
  kUsage = 2,        ///< wrong usage: flags, ids, files
  kUnreachable = 3,  ///< UNAVAILABLE, DEADLINE_EXCEEDED, or no server there
};

/// How a command ended.
struct [[nodiscard]] Outcome {
  ExitCode code = ExitCode::kDone;
  std::string message;     ///< for standard error, without a line end; may be empty
  bool timed_out = false;  ///< whether it was a call that took longer than --timeout
};

/// The outcome of a call that the server, or the way to it, did not let succeed: the status as
/// "INVALID_ARGUMENT (ID_OUT_OF_RANGE): message". `status` is not OK.
Outcome Refused(const absl::Status& status);

/// The outcome of wrong usage, with the message of a status that arose here. `status` is not OK.
Outcome WrongUsage(const absl::Status& status);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_OUTCOME_H_
