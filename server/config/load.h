#ifndef EMBD_SERVER_CONFIG_LOAD_H_
#define EMBD_SERVER_CONFIG_LOAD_H_

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/config/server_config.h"

namespace embd::config {

/// The three models that are served when no model is configured: `demo-learned`, `demo-sinusoidal`, `demo-rotary`, each
/// with V 320, D 64 and (where it has positions) L 128, drawn with seed 11 and std 0.02.
[[nodiscard]] std::vector<ModelConfig> DemoModels();

/// Reads a YAML (or JSON) text over `base`: a key that is there replaces the value in `base`; `models` replaces all
/// models. An empty text changes nothing. docs/configuration.md describes the keys.
///
/// Strict: an unknown key, a repeated key, a wrong type or a value out of range is refused. `file_name` begins every
/// message, as in `embd.yaml:7: models[0].token.seeded.std: must be a finite number >= 0, got "x"`. Relative paths of
/// tables are taken relative to the file's folder; `ready_file` and `unix:` addresses are left as they are, for the
/// working directory.
///
/// Cost: linear in the text, which is at most 16 MiB long.
/// Errors:
///   INVALID_ARGUMENT  [INVALID_CONFIG] with file, line, key path, what is allowed and what was found.
[[nodiscard]] absl::StatusOr<ServerConfig> ParseYaml(absl::string_view text, const std::string& file_name,
                                                     ServerConfig base = {});

/// A setting that has a flag and an environment variable.
struct Setting {
  const char* flag;
  const char* variable;
};
inline constexpr Setting kConfigSetting = {"--config", "EMBD_CONFIG"};
inline constexpr Setting kModelSetting = {"--model", "EMBD_MODEL"};
inline constexpr Setting kListenSetting = {"--listen", "EMBD_LISTEN"};
inline constexpr Setting kReadyFileSetting = {"--ready-file", "EMBD_READY_FILE"};
inline constexpr Setting kLogLevelSetting = {"--log-level", "EMBD_LOG_LEVEL"};
inline constexpr Setting kLogFormatSetting = {"--log-format", "EMBD_LOG_FORMAT"};
inline constexpr Setting kMetricsListenSetting = {"--metrics-listen", "EMBD_METRICS_LISTEN"};
inline constexpr Setting kTlsCertificateSetting = {"--tls-certificate", "EMBD_TLS_CERTIFICATE"};
inline constexpr Setting kTlsKeySetting = {"--tls-key", "EMBD_TLS_KEY"};
inline constexpr Setting kTlsClientCaSetting = {"--tls-client-ca", "EMBD_TLS_CLIENT_CA"};
inline constexpr Setting kTokensSetting = {"--tokens", "EMBD_TOKENS"};
inline constexpr Setting kInsecureSetting = {"--insecure", "EMBD_INSECURE"};
inline constexpr std::array kSettings = {kConfigSetting,        kModelSetting,          kListenSetting,
                                         kReadyFileSetting,     kLogLevelSetting,       kLogFormatSetting,
                                         kMetricsListenSetting, kTlsCertificateSetting, kTlsKeySetting,
                                         kTlsClientCaSetting,   kTokensSetting,         kInsecureSetting};

/// Command-line flags as given; unset, or without items, means not given.
struct Flags {
  std::optional<std::string> config;
  std::vector<std::string> models;  ///< NAME=PATH each
  std::vector<std::string> listen;
  std::optional<std::string> ready_file;  ///< "": none, whatever the variable and the file say
  std::optional<std::string> log_level;
  std::optional<std::string> log_format;
  std::vector<std::string> metrics_listen;
  std::optional<std::string> tls_certificate;
  std::optional<std::string> tls_key;
  std::optional<std::string> tls_client_ca;
  std::optional<std::string> tokens;
  bool insecure = false;
  bool check_config = false;  ///< for the caller; `Load` checks everything in any case
};

/// Looks up an environment variable; unset gives nothing.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Joins flags, EMBD_… variables, the file and the defaults, in this order of weight, into one checked configuration.
///
/// An empty variable counts as unset. EMBD_MODEL, EMBD_LISTEN and EMBD_METRICS_LISTEN are lists split on commas. Models
/// of --model (or, without it, of EMBD_MODEL) join those of the file, with paths as given; a name twice is refused.
/// Without any model the demo models stand in. No table is opened.
///
/// Errors:
///   INVALID_ARGUMENT  [INVALID_CONFIG] the flag, variable or key path, what is allowed and what was found.
///   NOT_FOUND         [INVALID_CONFIG] the configuration file cannot be read; with the system's reason.
[[nodiscard]] absl::StatusOr<ServerConfig> Load(const Flags& flags, const Environment& environment);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_LOAD_H_
