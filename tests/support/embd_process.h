#ifndef EMBD_TESTS_SUPPORT_EMBD_PROCESS_H_
#define EMBD_TESTS_SUPPORT_EMBD_PROCESS_H_

#include <sys/types.h>

#include <string>

namespace embd::testing {

/// `embd` in a process of its own, for the length of this object. Logs errors to standard error.
class EmbdProcess {
 public:
  /// Starts `program` with that configuration and waits until it serves. Its files and its Unix socket are in `folder`.
  /// Ends this program where the server does not start.
  EmbdProcess(const std::string& program, const std::string& folder, const std::string& yaml);
  EmbdProcess(const EmbdProcess&) = delete;
  EmbdProcess& operator=(const EmbdProcess&) = delete;
  /// Stops it, if it still runs.
  ~EmbdProcess();

  /// Asks it to end, and waits; whether it was still running, and ended as servers should.
  [[nodiscard]] bool Stop();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::string address() const { return "unix:" + socket_; }

 private:
  const std::string socket_;
  pid_t pid_ = -1;
};

}  // namespace embd::testing

#endif  // EMBD_TESTS_SUPPORT_EMBD_PROCESS_H_
