#ifndef EMBD_TESTS_BENCH_TORCH_PROCESS_H_
#define EMBD_TESTS_BENCH_TORCH_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace embd::bench {

/// torch_compose.py in a process of its own, asked round by round; ends with this object. Not thread-safe.
class TorchProcess {
 public:
  /// Starts `python script serve` and waits until it has made its tables. With `keeps_memory`, malloc is told to keep
  /// what is freed, up to 32 MiB a piece, so that results are not faulted in anew each time.
  TorchProcess(const std::string& python, const std::string& script, bool keeps_memory);
  TorchProcess(const TorchProcess&) = delete;
  TorchProcess& operator=(const TorchProcess&) = delete;
  ~TorchProcess();

  /// Whether it answers; else `state` says why not.
  [[nodiscard]] bool ready() const { return ready_; }
  /// "ready VERSION", or "not run: WHY".
  [[nodiscard]] const std::string& state() const { return state_; }
  [[nodiscard]] std::string version() const { return ready_ ? state_.substr(6) : ""; }

  /// Seconds that one composition of (batch, tokens) takes, over about `seconds`; nothing once the process has ended.
  [[nodiscard]] std::optional<double> SecondsPerCall(std::int64_t batch, std::int64_t tokens, double seconds);

 private:
  [[nodiscard]] std::string ReadLine();

  pid_t pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
  std::string state_;
  bool ready_ = false;
};

}  // namespace embd::bench

#endif  // EMBD_TESTS_BENCH_TORCH_PROCESS_H_
