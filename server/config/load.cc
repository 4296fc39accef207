#include "server/config/load.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/config/config_error.h"
#include "server/config/names.h"
#include "server/config/yaml_document.h"

namespace embd::config {
namespace {

/// Values of one setting, and the flag or variable that gave them: "--listen" or "EMBD_LISTEN"; empty: neither did.
struct Given {
  std::string source;
  std::vector<std::string> values;

  bool given() const { return !source.empty(); }
};

std::vector<std::string> SplitAtCommas(const std::string& list) {
  std::vector<std::string> items;
  for (const absl::string_view item : absl::StrSplit(list, ',')) items.emplace_back(absl::StripAsciiWhitespace(item));
  return items;
}

std::optional<std::string> Variable(const Environment& environment, const std::string& name) {
  auto value = environment ? environment(name) : std::nullopt;
  return value.has_value() && value->empty() ? std::nullopt : value;
}

Given One(const Setting& setting, const std::optional<std::string>& flag, const Environment& environment) {
  if (flag.has_value()) return {setting.flag, {*flag}};
  if (const auto value = Variable(environment, setting.variable)) return {setting.variable, {*value}};
  return {};
}

Given Several(const Setting& setting, const std::vector<std::string>& flags, const Environment& environment) {
  if (!flags.empty()) return {setting.flag, flags};
  if (const auto list = Variable(environment, setting.variable)) return {setting.variable, SplitAtCommas(*list)};
  return {};
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  const auto unreadable = [&path] {
    return UnreadableConfig(absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
  };
  if (file == nullptr) return unreadable();
  // One byte more than is allowed, so that what is too large is seen as such and never read to its end.
  std::string text(kMaxFileBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return unreadable();
  return text;
}

absl::StatusOr<ServerConfig> FromFile(const Given& file) {
  ServerConfig defaults;
  defaults.metrics_listen = {"127.0.0.1:8002"};
  if (!file.given()) return defaults;
  const std::string& path = file.values.front();
  if (path.empty()) return InvalidConfig(absl::StrCat(file.source, ": must be a file, got \"\""));
  const auto text = ReadFile(path);
  if (!text.ok()) return text.status();
  return ParseYaml(*text, path, std::move(defaults));
}

/// `fault_of` says what is wrong with an address.
absl::Status TakeAddresses(const Given& given, std::optional<std::string> (*fault_of)(absl::string_view),
                           std::vector<std::string>& addresses) {
  if (!given.given()) return absl::OkStatus();
  for (const std::string& address : given.values) {
    if (const auto fault = fault_of(address)) return InvalidConfig(absl::StrCat(given.source, ": ", *fault));
  }
  addresses = given.values;
  return absl::OkStatus();
}

absl::Status TakeLog(const Given& level, const Given& format, ServerConfig& config) {
  if (level.given()) {
    if (const auto fault = FaultOfLogLevel(level.values.front())) {
      return InvalidConfig(absl::StrCat(level.source, ": ", *fault));
    }
    config.log.level = level.values.front();
  }
  if (!format.given()) return absl::OkStatus();
  const std::string& word = format.values.front();
  if (word != "text" && word != "json") {
    return InvalidConfig(absl::StrCat(format.source, ": must be text or json, got ", Quote(word)));
  }
  config.log.format = word == "json" ? LogFormat::kJson : LogFormat::kText;
  return absl::OkStatus();
}

absl::Status TakeSecurity(const Flags& flags, const Environment& environment, ServerConfig& config) {
  const Given certificate = One(kTlsCertificateSetting, flags.tls_certificate, environment);
  const Given key = One(kTlsKeySetting, flags.tls_key, environment);
  const Given client_ca = One(kTlsClientCaSetting, flags.tls_client_ca, environment);
  const Given tokens = One(kTokensSetting, flags.tokens, environment);
  const Given insecure =
      One(kInsecureSetting, flags.insecure ? std::optional<std::string>("true") : std::nullopt, environment);
  // An empty one would open the server without a word.
  for (const Given* const file : {&certificate, &key, &client_ca, &tokens}) {
    if (file->given() && file->values.front().empty()) {
      return InvalidConfig(absl::StrCat(file->source, ": must be a file, got \"\""));
    }
  }
  if (certificate.given() || key.given() || client_ca.given()) {
    Tls tls = config.tls.value_or(Tls{});
    if (certificate.given()) tls.certificate = certificate.values.front();
    if (key.given()) tls.key = key.values.front();
    if (client_ca.given()) tls.client_ca = client_ca.values.front();
    if (tls.certificate.empty() || tls.key.empty()) {
      return InvalidConfig(absl::StrCat(tls.certificate.empty() ? kTlsCertificateSetting.flag : kTlsKeySetting.flag,
                                        ": TLS needs both a certificate and its key"));
    }
    config.tls = std::move(tls);
  }
  if (tokens.given()) config.tokens = tokens.values.front();
  if (!insecure.given()) return absl::OkStatus();
  const std::string& word = insecure.values.front();
  if (word != "true" && word != "false") {
    return InvalidConfig(absl::StrCat(insecure.source, ": must be true or false, got ", Quote(word)));
  }
  config.insecure = word == "true";
  return absl::OkStatus();
}

/// Others than this machine are served without encryption only where somebody has said so.
absl::Status CheckExposure(const ServerConfig& config) {
  if (config.tls.has_value() || config.insecure) return absl::OkStatus();
  for (const std::string& address : config.listen) {
    if (IsLocalAddress(address)) continue;
    return InvalidConfig(absl::StrCat(
        "server.listen: ", Quote(address),
        " is reached by other machines, and nothing would be encrypted; set server.tls (--tls-certificate, --tls-key), "
        "or "
        "server.insecure: true (--insecure, EMBD_INSECURE=true) where the network is trusted, or listen on 127.0.0.1"));
  }
  return absl::OkStatus();
}

absl::Status AddModel(const std::string& source, const std::string& text, std::vector<ModelConfig>& models) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals + 1 == text.size()) {
    return InvalidConfig(absl::StrCat(source, ": must be NAME=PATH, got ", Quote(text)));
  }
  ModelConfig model;
  model.name = text.substr(0, equals);
  model.path = text.substr(equals + 1);
  if (const auto fault = FaultOfModelName(model.name)) {
    return InvalidConfig(absl::StrCat(source, ": the name ", *fault));
  }
  for (const ModelConfig& other : models) {
    if (other.name != model.name) continue;
    return InvalidConfig(
        absl::StrCat(source, ": the name must not be used twice, got ", Quote(model.name), ", which is there already"));
  }
  models.push_back(std::move(model));
  return absl::OkStatus();
}

absl::Status AddModels(const Given& given, std::vector<ModelConfig>& models) {
  for (const std::string& text : given.values) {
    if (auto status = AddModel(given.source, text, models); !status.ok()) return status;
  }
  if (models.empty()) models = DemoModels();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ServerConfig> Load(const Flags& flags, const Environment& environment) {
  auto config = FromFile(One(kConfigSetting, flags.config, environment));
  if (!config.ok()) return config;

  const Given ready_file = One(kReadyFileSetting, flags.ready_file, environment);
  if (ready_file.given()) config->ready_file = ready_file.values.front();
  for (const absl::Status& status : {
           TakeAddresses(Several(kListenSetting, flags.listen, environment), &FaultOfListenAddress, config->listen),
           TakeAddresses(Several(kMetricsListenSetting, flags.metrics_listen, environment), &FaultOfMetricsAddress,
                         config->metrics_listen),
           TakeLog(One(kLogLevelSetting, flags.log_level, environment),
                   One(kLogFormatSetting, flags.log_format, environment), *config),
           TakeSecurity(flags, environment, *config),
           AddModels(Several(kModelSetting, flags.models, environment), config->models),
       }) {
    if (!status.ok()) return status;
  }
  std::erase(config->metrics_listen, "none");  // as the file's is
  if (absl::Status status = CheckExposure(*config); !status.ok()) return status;
  return config;
}

}  // namespace embd::config
