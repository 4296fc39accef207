#ifndef EMBD_CLIENT_CLI_COMMANDS_WAITING_H_
#define EMBD_CLIENT_CLI_COMMANDS_WAITING_H_

#include <condition_variable>
#include <iosfwd>
#include <mutex>
#include <thread>

#include "absl/time/time.h"
#include "client/cli/commands/session.h"

namespace embd::cli {

/// While it lives, a line on a terminal says how long a call has been waited for, and how long it may take. The line
/// comes after `step`, is drawn anew every `step`, and is wiped out at the end.
///
/// Thread safety: thread-compatible. Nothing else may write to the terminal meanwhile.
class Waiting {
 public:
  /// Draws on the session's standard error where that is a terminal.
  explicit Waiting(const Session& session);

  /// Draws on `terminal` if that is not null; it outlives this object.
  Waiting(std::ostream* terminal, absl::Duration timeout, absl::Duration step);

  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting();

 private:
  void Draw();

  std::ostream* const terminal_;
  const absl::Duration timeout_;
  const absl::Duration step_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;  // guarded by mutex_
  std::thread thread_;  // runs only where there is a terminal
};

/// What `call` returns; on a terminal it is said meanwhile that it is waited for.
template <typename Call>
auto WhileWaiting(const Session& session, const Call& call) {
  const Waiting waiting(session);
  return call();
}

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_WAITING_H_
