#ifndef EMBD_SERVER_SERVICE_MODEL_CONTROL_H_
#define EMBD_SERVER_SERVICE_MODEL_CONTROL_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace embd::service {

/// A model that was loaded and is served.
struct LoadedModel {
  std::string name;
  std::string version;
  std::int64_t generation = 0;  ///< counts the loads of the name
  std::string checksum;         ///< of its tables
  std::chrono::nanoseconds load_time{0};
};

/// What reading the configuration again has changed.
struct ReloadReport {
  /// What could not be made as the configuration says; what was there before still is.
  struct Failure {
    std::string model;    ///< empty: it is a setting
    std::string setting;  ///< its key path, such as "server.tokens"; empty: it is a model
    absl::Status status;
  };
  std::vector<LoadedModel> loaded;         ///< that were not served before
  std::vector<LoadedModel> reloaded;       ///< whose configuration or files had changed
  std::vector<std::string> unloaded;       ///< that the configuration names no more
  std::vector<std::string> unchanged;      ///< that were left as they are
  std::vector<Failure> failures;           ///< one each; none keeps another from being followed
  std::vector<std::string> needs_restart;  ///< key paths of settings that differ and are only read at the start
  std::vector<std::string> applied;        ///< key paths of settings that took effect
};

/// Loads and unloads the models that the configuration names, while the server runs.
///
/// Thread safety: thread-safe.
class ModelControl {
 public:
  enum class State { kReady, kLoading, kUnavailable };
  using Clock = std::chrono::steady_clock;

  /// A model of the configuration.
  struct Entry {
    std::string name;
    std::string version;
    State state = State::kUnavailable;
    std::string reason;  ///< why it is not ready; empty where it is
  };

  virtual ~ModelControl() = default;

  /// Whether `Load` and `Unload` may be called at all (server.model_control: explicit).
  [[nodiscard]] virtual bool is_explicit() const = 0;

  /// In order of name.
  [[nodiscard]] virtual std::vector<Entry> Index() const = 0;

  /// Builds the model as the configuration says and then puts it in the place of the one that is served, if any, with
  /// the next generation. Blocks for as long as that takes. A load of the model that was still under way at the moment
  /// `asked`, or began after it, is shared instead of being done again.
  ///
  /// Errors:
  ///   FAILED_PRECONDITION  [MODEL_CONTROL_OFF] not is_explicit().
  ///   NOT_FOUND            [MODEL_NOT_FOUND] the configuration names no such model.
  ///   those of app::BuildModel: what was served before still is, with its generation; where nothing is served, the
  ///                index gives the message as the reason.
  [[nodiscard]] virtual absl::StatusOr<LoadedModel> LoadSince(const std::string& name, Clock::time_point asked) = 0;

  /// LoadSince now.
  [[nodiscard]] absl::StatusOr<LoadedModel> Load(const std::string& name) { return LoadSince(name, Clock::now()); }

  /// Takes the model out of service; calls that have it end as if nothing had happened, and its tables are freed after
  /// the last of them. Waits for a load of it that is under way. OK where it is not served.
  ///
  /// Errors: FAILED_PRECONDITION, NOT_FOUND as LoadSince.
  [[nodiscard]] virtual absl::Status Unload(const std::string& name) = 0;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_MODEL_CONTROL_H_
