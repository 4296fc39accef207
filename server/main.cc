// The server program: flags and signals. Everything else is in app.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "google/protobuf/stubs/logging.h"
#include "server/app/embedding_server.h"
#include "server/app/ready_file.h"
#include "server/app/version.h"
#include "server/config/load.h"
#include "server/core/kernels/simd_target.h"
#include "server/observability/log.h"

namespace {

namespace app = embd::app;
namespace config = embd::config;
namespace observability = embd::observability;

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

std::optional<std::string> Variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// Undecodable requests are answered to the caller; protobuf's own complaint to standard error helps nobody.
void IgnoreProtobufLog(google::protobuf::LogLevel, const char*, int, const std::string&) {}

int Fail(const absl::Status& status, int code) {
  std::fprintf(stderr, "embd: %s\n", std::string(status.message()).c_str());
  return code;
}

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

// Serves until the first SIGTERM or SIGINT, then drains; a second one ends the process at once.
int Serve(const config::ServerConfig& server_config) {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // inherited by every thread, so that only sigwait sees them
  auto server = app::EmbeddingServer::Start(server_config);
  if (!server.ok()) return Fail(server.status(), kExitFailed);
  if (!server_config.ready_file.empty()) {
    if (absl::Status status = app::WriteReadyFile(server_config.ready_file, (*server)->addresses()); !status.ok()) {
      return Fail(status, kExitFailed);
    }
  }
  observability::LogInfo(absl::StrCat("embd ", app::kVersion, " serves on ",
                                      absl::StrJoin((*server)->addresses(), ", "), ", SIMD target ",
                                      embd::core::SimdTarget()));
  int signal = 0;
  sigwait(&signals, &signal);
  observability::LogInfo(absl::StrCat("signal ", signal, ": draining for at most ", server_config.drain_seconds, " s"));
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  (*server)->Shutdown(absl::Seconds(server_config.drain_seconds));
  observability::LogInfo("stopped");
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  // The check costs up to a fifth of the calls a second with eight callers; our locks never nest.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  google::protobuf::SetLogHandler(&IgnoreProtobufLog);

  config::Flags flags;
  std::string ready_file, log_level, config_file;
  CLI::App cli("embd serves embedding tables over gRPC. Without models it serves three small seeded ones.", "embd");
  cli.set_version_flag("--version", absl::StrCat("embd ", app::kVersion, " (", app::kBuild, ")"));
  auto* const config_option =
      cli.add_option("--config", config_file, "Configuration, YAML or JSON (EMBD_CONFIG)")->type_name("FILE");
  cli.add_option("--model", flags.models, "Serve a table file under a name; may be repeated (EMBD_MODEL)")
      ->type_name("NAME=PATH")
      ->allow_extra_args(false);
  cli.add_option("--listen", flags.listen,
                 "HOST:PORT or unix:PATH; port 0 takes a free one; may be repeated (EMBD_LISTEN; 127.0.0.1:8001)")
      ->type_name("ADDR")
      ->allow_extra_args(false);
  auto* const ready_option =
      cli.add_option("--ready-file", ready_file, "Write pid and addresses there once serving (EMBD_READY_FILE)")
          ->type_name("FILE");
  auto* const level_option =
      cli.add_option("--log-level", log_level, "trace, debug, info, warn, error or off (EMBD_LOG_LEVEL; info)")
          ->type_name("LEVEL");
  cli.add_flag("--check-config", flags.check_config, "Check the configuration, print what is wrong, and exit");
  cli.footer(
      "Examples:\n"
      "  embd                                                    three demo models on 127.0.0.1:8001\n"
      "  embd --model glove=/data/glove.npy --listen 0.0.0.0:8001\n"
      "  embd --config /etc/embd.yaml --check-config\n"
      "EMBD_SIMD=scalar|ssse3|sse4|avx2|avx3 caps the SIMD target. Flag > variable > file > default.");
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli.exit(error) == 0 ? EXIT_SUCCESS : kExitUsage;
  }
  if (config_option->count() > 0) flags.config = config_file;
  if (ready_option->count() > 0) flags.ready_file = ready_file;
  if (level_option->count() > 0) flags.log_level = log_level;

  const auto server_config = config::Load(flags, Variable);
  if (!server_config.ok()) return Fail(server_config.status(), kExitUsage);
  if (const auto simd = Variable("EMBD_SIMD"); simd.has_value() && !simd->empty()) {
    if (absl::Status status = embd::core::CapSimdTarget(*simd); !status.ok()) {
      return Fail(absl::InvalidArgumentError(absl::StrCat("EMBD_SIMD: ", status.message())), kExitUsage);
    }
  }
  if (absl::Status status = observability::SetLogLevel(server_config->log_level); !status.ok())
    return Fail(status, kExitUsage);
  if (flags.check_config) {
    std::printf("configuration is valid: %zu models\n", server_config->models.size());
    return EXIT_SUCCESS;
  }
  return Serve(*server_config);
}
