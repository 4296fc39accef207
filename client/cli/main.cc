#include <malloc.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/cli/commands/command_line.h"
#include "embd/client/grpc_log.h"

namespace {

// A pipe whose reader has gone, such as that of `embdctl … | head -1`: then nobody misses the rest.
bool ReaderHasGone() {
  pollfd output{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

std::atomic<bool> interrupt_seen = false;

// The first call makes the first Ctrl-C set a flag; a second one finds the default again and ends the program.
bool Interrupted() {
  [[maybe_unused]] static const bool handled = [] {
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupt_seen.store(true); };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    return sigaction(SIGINT, &action, nullptr) == 0;
  }();
  return interrupt_seen.load();
}

// Ends at once, without the handlers of exit(): gRPC's threads may be in the middle of a connection attempt, and what
// they use, OpenSSL for one, would be taken down beside them.
[[noreturn]] void End(int code) {
  std::cout.flush();
  std::cerr.flush();
  _exit(code);
}

absl::Duration SteadyTime() { return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()); }

}  // namespace

int main(int argc, char** argv) {
  // Looking for cycles of locks at every lock costs small calls several percent.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Replies of megabytes must not have their memory given back to the system, and faulted in again, call by call.
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_TOP_PAD, 4 << 20);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  prctl(PR_SET_TIMERSLACK, 1000);  // ns; the default, 50 us, would be part of what `bench` measures at a fixed rate
  std::signal(SIGPIPE, SIG_IGN);
  embd::client::SilenceGrpcLog();  // what goes wrong with a call is said below

  const embd::cli::Surroundings world{.in = std::cin,
                                      .out = std::cout,
                                      .err = std::cerr,
                                      .connect =
                                          [](const std::string& address, const embd::client::ClientOptions& options) {
                                            return embd::client::Client::Connect(address, options);
                                          },
                                      .now = absl::Now,
                                      .sleep = absl::SleepFor,
                                      .steady = SteadyTime,
                                      .interrupted = Interrupted,
                                      .err_is_terminal = isatty(STDERR_FILENO) == 1,
                                      .out_is_terminal = isatty(STDOUT_FILENO) == 1};
  const int code = embd::cli::RunCommandLine(std::vector<std::string>(argv + 1, argv + argc), world);
  std::cout.flush();
  if (!std::cout.good() && !ReaderHasGone()) {
    std::cerr << "embdctl: standard output cannot be written\n";
    End(static_cast<int>(embd::cli::ExitCode::kUsage));
  }
  End(code);
}
