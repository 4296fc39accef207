// A server with the demo models, or those of a configuration, and besides with what the examples and tests of Triton's
// clients expect: the models "simple" and "identity_fp32", and, where the configuration does not say it, the name
// "triton".
//
//     conformance_server [--listen ADDR]… [--ready-file FILE] [--config FILE]

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/synchronization/mutex.h"
#include "server/app/embedding_server.h"
#include "server/app/process.h"
#include "server/app/ready_file.h"
#include "server/config/load.h"
#include "tests/oip/simple_servables.h"

namespace embd {
namespace {

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "conformance_server: %s\n", std::string(status.message()).c_str());
  return EXIT_FAILURE;
}

int Serve(const config::ServerConfig& server_config, const sigset_t& stop_signals) {
  auto server = app::EmbeddingServer::Start(server_config, {oip::MakeSimple(), oip::MakeIdentityFp32()});
  if (!server.ok()) return Fail(server.status());
  if (!server_config.ready_file.empty()) {
    absl::Status status =
        app::WriteReadyFile(server_config.ready_file, (*server)->addresses(), (*server)->metrics_addresses());
    if (!status.ok()) return Fail(status);
  }
  int received = 0;
  sigwait(&stop_signals, &received);
  (*server)->Shutdown(absl::Seconds(server_config.drain_seconds));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace embd

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): CLI11's, of options that are defined wrongly
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);  // as embd does
  // Blocked before there are threads, which inherit it, so that only sigwait sees them.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGTERM);
  sigaddset(&stop_signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  embd::config::Flags flags;
  std::string config_file, ready_file;
  CLI::App cli("embd with the models that Triton's examples call.", "conformance_server");
  auto* const config_option = cli.add_option("--config", config_file);
  cli.add_option("--listen", flags.listen)->allow_extra_args(false);
  auto* const ready_option = cli.add_option("--ready-file", ready_file);
  CLI11_PARSE(cli, argc, argv);
  if (config_option->count() > 0) flags.config = config_file;
  if (ready_option->count() > 0) flags.ready_file = ready_file;

  flags.metrics_listen = {"none"};

  auto server_config = embd::config::Load(flags, [](const std::string&) { return std::nullopt; });
  if (!server_config.ok()) return embd::Fail(server_config.status());
  if (server_config->inference.name == embd::config::Inference().name) server_config->inference.name = "triton";
  if (absl::Status status = embd::app::SetUpProcess(server_config->log, ""); !status.ok()) {
    return embd::Fail(status);
  }
  return embd::Serve(*server_config, stop_signals);
}
