// The server program: flags and variables. Everything else is in app.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "server/app/process.h"
#include "server/app/serve.h"
#include "server/app/service_manager.h"
#include "server/app/tls_credentials.h"
#include "server/app/version.h"
#include "server/config/load.h"

namespace {

namespace app = embd::app;
namespace config = embd::config;

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

std::optional<std::string> Variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

int Fail(const absl::Status& status, int code) {
  std::fprintf(stderr, "embd: %s\n", std::string(status.message()).c_str());
  return code;
}

}  // namespace

// CLI11 throws where an option is defined wrongly, which would be seen at every start.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  // The check costs up to a fifth of the calls a second with eight callers; our locks never nest.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);

  config::Flags flags;
  CLI::App cli("embd serves embedding tables over gRPC. Without models it serves three small seeded ones.", "embd");
  cli.set_version_flag("--version", absl::StrCat("embd ", app::kVersion, " (", app::kBuild, ")"));
  const auto one = [&cli](const char* name, std::optional<std::string>& value, const char* help, const char* type) {
    cli.add_option_function<std::string>(
           name, [&value](const std::string& given) { value = given; }, help)
        ->type_name(type);
  };
  const auto several = [&cli](const char* name, std::vector<std::string>& values, const char* help, const char* type) {
    cli.add_option(name, values, help)->type_name(type)->allow_extra_args(false);
  };
  one("--config", flags.config, "Configuration, YAML or JSON (EMBD_CONFIG)", "FILE");
  several("--model", flags.models,
          "Serve a table file, a .gguf or a model folder under a name; may be repeated (EMBD_MODEL)", "NAME=PATH");
  several("--listen", flags.listen,
          "HOST:PORT or unix:PATH; port 0 takes a free one; may be repeated (EMBD_LISTEN; 127.0.0.1:8001)", "ADDR");
  several("--metrics-listen", flags.metrics_listen,
          "HOST:PORT of /metrics, /healthz and /readyz, or none; may be repeated (EMBD_METRICS_LISTEN; 127.0.0.1:8002)",
          "ADDR");
  one("--tls-certificate", flags.tls_certificate, "Certificate of the server, PEM (EMBD_TLS_CERTIFICATE)", "FILE");
  one("--tls-key", flags.tls_key, "Its key, PEM (EMBD_TLS_KEY)", "FILE");
  one("--tls-client-ca", flags.tls_client_ca,
      "Authorities whose certificates clients must show, PEM (EMBD_TLS_CLIENT_CA)", "FILE");
  one("--tokens", flags.tokens, "Bearer tokens and their roles (EMBD_TOKENS)", "FILE");
  cli.add_flag("--insecure", flags.insecure, "Serve other machines without TLS (EMBD_INSECURE=true)");
  one("--ready-file", flags.ready_file, "Write pid and addresses there once serving (EMBD_READY_FILE)", "FILE");
  one("--log-level", flags.log_level, "trace, debug, info, warn, error or off (EMBD_LOG_LEVEL; info)", "LEVEL");
  one("--log-format", flags.log_format, "text or json (EMBD_LOG_FORMAT; text)", "FORMAT");
  cli.add_flag("--check-config", flags.check_config,
               "Check the configuration, print what is wrong, and exit; opens no table");
  cli.footer(
      "Examples:\n"
      "  embd                                                    three demo models on 127.0.0.1:8001\n"
      "  embd --model glove=/data/glove.npy --listen 0.0.0.0:8001\n"
      "  embd --config /etc/embd.yaml --check-config\n"
      "EMBD_SIMD=scalar|ssse3|sse4|avx2|avx3 caps the SIMD target. Flag > variable > file > default.");
  cli.failure_message([](const CLI::App* parsed, const CLI::Error& error) {
    return "embd: " + CLI::FailureMessage::simple(parsed, error);
  });
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli.exit(error) == 0 ? EXIT_SUCCESS : kExitUsage;
  }

  const auto server_config = config::Load(flags, Variable);
  if (!server_config.ok()) return Fail(server_config.status(), kExitUsage);
  if (absl::Status status = app::SetUpProcess(server_config->log, Variable("EMBD_SIMD").value_or("")); !status.ok()) {
    return Fail(status, kExitUsage);
  }
  if (server_config->tls.has_value()) app::LimitTlsVersion(server_config->tls->min_version);
  if (flags.check_config) {
    const std::size_t count = server_config->models.size();
    std::printf("configuration is valid: %zu %s\n", count, count == 1 ? "model" : "models");
    return EXIT_SUCCESS;
  }
  const absl::Status served = app::Serve(
      *server_config, [&flags] { return config::Load(flags, Variable); },
      app::ServiceManager(Variable("NOTIFY_SOCKET").value_or("")));
  // Without the handlers of exit(): gRPC keeps threads to the end of the process, and they would lose what they use.
  _exit(served.ok() ? EXIT_SUCCESS : Fail(served, kExitFailed));
}
