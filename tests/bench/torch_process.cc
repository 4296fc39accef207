#include "tests/bench/torch_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace embd::bench {

TorchProcess::TorchProcess(const std::string& python, const std::string& script, bool keeps_memory) {
  int requests[2], answers[2];
  if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) {
    state_ = "not run: no pipe to be had";
    return;
  }
  pid_ = fork();
  if (pid_ == 0) {
    dup2(requests[0], STDIN_FILENO);
    dup2(answers[1], STDOUT_FILENO);
    if (keeps_memory) {
      setenv("MALLOC_TRIM_THRESHOLD_", "268435456", 1);
      setenv("MALLOC_TOP_PAD_", "4194304", 1);
      setenv("MALLOC_MMAP_THRESHOLD_", "33554432", 1);
    }
    execl(python.c_str(), python.c_str(), script.c_str(), "serve", nullptr);
    _exit(EXIT_FAILURE);
  }
  close(requests[0]);
  close(answers[1]);
  to_ = fdopen(requests[1], "w");
  from_ = fdopen(answers[0], "r");
  state_ = ReadLine();
  ready_ = state_.rfind("ready ", 0) == 0;
  if (state_.empty()) state_ = "not run: " + python + " " + script + " does not start";
}

TorchProcess::~TorchProcess() {
  if (to_ != nullptr) fclose(to_);  // the end of its input ends it
  if (from_ != nullptr) fclose(from_);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

std::string TorchProcess::ReadLine() {
  std::array<char, 512> line{};
  if (from_ == nullptr || std::fgets(line.data(), static_cast<int>(line.size()), from_) == nullptr) return "";
  std::string text(line.data());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::optional<double> TorchProcess::SecondsPerCall(std::int64_t batch, std::int64_t tokens, double seconds) {
  if (!ready_) return std::nullopt;
  std::fprintf(to_, "%ld %ld %f\n", static_cast<long>(batch), static_cast<long>(tokens), seconds);
  std::fflush(to_);
  const double answer = std::atof(ReadLine().c_str());
  if (answer > 0) return answer;
  ready_ = false;
  state_ = "not run: it ended while it measured";
  return std::nullopt;
}

}  // namespace embd::bench
