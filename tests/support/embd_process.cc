#include "tests/support/embd_process.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "server/config/load.h"
#include "tests/support/eventually.h"

namespace embd::testing {

EmbdProcess::EmbdProcess(const std::string& program, const std::string& folder, const std::string& yaml)
    : socket_(folder + "/socket") {
  const std::string config = folder + "/embd.yaml", ready = folder + "/ready.json", listen = address();
  std::ofstream(config) << yaml;
  for (const config::Setting& setting : config::kSettings) unsetenv(setting.variable);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl(program.c_str(), program.c_str(), "--config", config.c_str(), "--listen", listen.c_str(), "--ready-file",
          ready.c_str(), "--metrics-listen", "127.0.0.1:0", "--log-level", "error", nullptr);
    _exit(EXIT_FAILURE);
  }
  const auto ended = [this] { return pid_ < 0 || waitpid(pid_, nullptr, WNOHANG) != 0; };
  if (Eventually([&] { return std::filesystem::exists(ready) || ended(); }) && std::filesystem::exists(ready)) return;
  std::fprintf(stderr, "%s does not start\n", program.c_str());
  std::abort();
}

EmbdProcess::~EmbdProcess() { static_cast<void>(Stop()); }

bool EmbdProcess::Stop() {
  if (pid_ < 0) return false;
  int status = 0;
  const bool running = waitpid(pid_, &status, WNOHANG) == 0;
  if (running) {
    kill(pid_, SIGINT);
    waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  return running && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace embd::testing
