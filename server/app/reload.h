#ifndef EMBD_SERVER_APP_RELOAD_H_
#define EMBD_SERVER_APP_RELOAD_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/app/model_repository.h"
#include "server/config/server_config.h"
#include "server/core/threads/mutex.h"
#include "server/service/model_control.h"

namespace embd::app {

/// A setting that can change while the server runs.
struct LiveSetting {
  std::string key;  ///< its key path, as config::ChangedSettings names it
  /// Makes the server follow `now`, also where only a file has changed that the setting names. Returns whether that
  /// changed anything. On an error all stays as it was. Called for one reload at a time.
  std::function<absl::StatusOr<bool>(const config::ServerConfig& now)> apply;
};

/// Reads the configuration again and makes a running server follow it, model by model and setting by setting.
///
/// Thread safety: thread-safe; reloads at the same time run one after the other.
class Reload {
 public:
  /// Reads and checks the configuration as at the start of the server. Must not change anything.
  using Read = std::function<absl::StatusOr<config::ServerConfig>()>;

  /// `started` is what the server was started with. Without `read`, Run refuses. `repository` outlives this.
  Reload(config::ServerConfig started, Read read, std::vector<LiveSetting> live, ModelRepository* repository);

  /// Blocks until every model is as the configuration says, or has failed. The log says what has happened.
  ///
  /// Errors: those of `read`, when nothing has changed, and
  ///   FAILED_PRECONDITION  [RELOAD_OFF] there is no `read`.
  [[nodiscard]] absl::StatusOr<service::ReloadReport> Run();

 private:
  void ApplySettings(const config::ServerConfig& now, service::ReloadReport& report) const;

  const config::ServerConfig started_;
  const Read read_;
  const std::vector<LiveSetting> live_;
  ModelRepository* const repository_;
  core::Mutex one_;  // held while a configuration is followed
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_RELOAD_H_
