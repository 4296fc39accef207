#ifndef EMBD_SERVER_SERVICE_MODEL_CONTROL_H_
#define EMBD_SERVER_SERVICE_MODEL_CONTROL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace embd::service {

/// Loads and unloads the models that the configuration names, while the server runs.
///
/// Thread safety: thread-safe.
class ModelControl {
 public:
  enum class State { kReady, kLoading, kUnavailable };

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
  /// the next generation. Blocks for as long as that takes. Loads of one model that come while one is under way wait
  /// for it and share its result.
  ///
  /// Errors:
  ///   UNAVAILABLE  [MODEL_CONTROL_OFF] not is_explicit().
  ///   NOT_FOUND    [MODEL_NOT_FOUND] the configuration names no such model.
  ///   those of app::BuildModel: what was served before still is, with its generation; where nothing is served, the
  ///                index gives the message as the reason.
  [[nodiscard]] virtual absl::Status Load(const std::string& name) = 0;

  /// Takes the model out of service; calls that have it end as if nothing had happened, and its tables are freed after
  /// the last of them. Waits for a load of it that is under way. OK where it is not served.
  ///
  /// Errors: UNAVAILABLE, NOT_FOUND as Load.
  [[nodiscard]] virtual absl::Status Unload(const std::string& name) = 0;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_MODEL_CONTROL_H_
