#ifndef EMBD_CLIENT_ADMIN_H_
#define EMBD_CLIENT_ADMIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace embd::client {

/// A model that a server has loaded.
struct LoadedModel {
  std::string name = {};
  std::string version = {};
  /// How often the name has been loaded, this time counted; EmbedInfo has it too.
  std::int64_t generation = 0;
  /// SHA-256 of the tables, in hexadecimal digits; EmbedInfo has it too.
  std::string checksum = {};
  /// How long loading took, in whole milliseconds.
  absl::Duration load_time = absl::ZeroDuration();

  friend bool operator==(const LoadedModel&, const LoadedModel&) = default;
};

/// A model or a setting that could not be made as the configuration says. What was there before still is.
struct ReloadFailure {
  /// Empty: it is a setting.
  std::string model = {};
  /// Its key path, such as "server.tokens"; empty: it is a model.
  std::string setting = {};
  /// What was wrong, with the server's reason; see ErrorReason.
  absl::Status status = {};

  friend bool operator==(const ReloadFailure&, const ReloadFailure&) = default;
};

/// What reading its configuration again has changed at a server.
struct ReloadReport {
  /// Models that were not served before.
  std::vector<LoadedModel> loaded = {};
  /// Models whose configuration or files had changed.
  std::vector<LoadedModel> reloaded = {};
  /// Names of models that the configuration names no more.
  std::vector<std::string> unloaded = {};
  /// Names of models that were left as they are.
  std::vector<std::string> unchanged = {};
  std::vector<ReloadFailure> failures = {};
  /// Key paths of settings that differ and are only read when the server starts.
  std::vector<std::string> needs_restart = {};
  /// Key paths of settings that took effect.
  std::vector<std::string> applied = {};

  friend bool operator==(const ReloadReport&, const ReloadReport&) = default;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_ADMIN_H_
