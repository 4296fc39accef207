#ifndef EMBD_SERVER_APP_MODEL_REPOSITORY_H_
#define EMBD_SERVER_APP_MODEL_REPOSITORY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/app/model_files.h"
#include "server/app/table_budget.h"
#include "server/config/server_config.h"
#include "server/core/engine/model_registry.h"
#include "server/core/threads/mutex.h"
#include "server/service/model_control.h"
#include "server/service/statistics.h"

namespace embd::app {

/// The models that a configuration names, and whether each is served. Everything that is ever served has gone through
/// here. The registry knows every name of the configuration: what is not served is there as absent.
///
/// Loads of different models run one after the other, so that their peaks of memory do not add up. A model's generation
/// is 1 when it is loaded first and one more each time it is loaded again, also after it was unloaded.
/// Thread safety: thread-safe.
class ModelRepository final : public service::ModelControl {
 public:
  /// Told that a model is served from now on, or not, before the call that did it returns: for one model in the order
  /// in which it happens, for several perhaps at once. Must not call the repository.
  using ServingChanged = std::function<void(const std::string& name, bool serving)>;

  /// Loads nothing yet. `models` and `statistics` must outlive the repository.
  ModelRepository(const config::ServerConfig& config, TableBudget budget, core::ModelRegistry* models,
                  service::Statistics* statistics, ServingChanged changed);

  /// Loads what is not served yet, whether control is explicit or not: first the models that are required, then, after
  /// `required_loaded`, the others, both in the order of the configuration. Others that cannot be loaded are logged.
  ///
  /// Errors: those of LoadSince, of the first required model that cannot be loaded; those behind it are not tried.
  [[nodiscard]] absl::Status LoadAll(const std::function<void()>& required_loaded = [] {});

  /// Follows another configuration of models, each on its own: those it names no more are unloaded; then those that are
  /// new, that could not be loaded before, or whose configuration or files have changed since they were loaded are
  /// loaded. A model that cannot be loaded is a failure, and what was served under its name still is. One that Unload
  /// has taken out stays out for as long as nothing of it changes. Adds to `report`. Calls at the same time run one
  /// after the other.
  void Follow(const std::vector<config::ModelConfig>& models, service::ReloadReport& report);

  /// No load begins any more: those that wait, and those that are asked for, are UNAVAILABLE [STOPPING].
  void Stop();

  /// Whether a load is under way. It cannot be broken off.
  [[nodiscard]] bool IsLoading() const;

  [[nodiscard]] bool is_explicit() const override { return is_explicit_; }
  [[nodiscard]] std::vector<Entry> Index() const override;
  [[nodiscard]] absl::StatusOr<service::LoadedModel> LoadSince(const std::string& name,
                                                               Clock::time_point asked) override;
  [[nodiscard]] absl::Status Unload(const std::string& name) override;

 private:
  using Result = absl::StatusOr<service::LoadedModel>;

  /// What a model is made of.
  struct Origin {
    config::ModelConfig config;
    std::vector<FileStamp> files;
  };

  /// One load, for all who have asked for it.
  struct Attempt {
    Clock::time_point began;
    std::optional<Result> result;  // unset while it is under way, and all below
    Clock::time_point ended;
    Origin origin;
  };

  /// A model's state. Only one thread at a time changes what is served: that of `attempt`, or the one that unloads.
  struct Slot {
    std::optional<config::ModelConfig> config;  // unset: the configuration names it no more
    State state = State::kUnavailable;
    std::string reason = "not loaded yet";
    std::int64_t generation = 0;           // of the last one that was loaded
    std::optional<Origin> origin;          // of the last one that was loaded; unset where a load after it failed
    std::shared_ptr<Attempt> attempt;      // null while none is under way
    std::shared_ptr<const Attempt> ended;  // the last one that was
    bool unloading = false;
  };

  [[nodiscard]] absl::Status CheckAllowed(const std::string& name) const;
  [[nodiscard]] bool is_stopping() const;
  [[nodiscard]] Result LoadOrShare(const std::string& name, Clock::time_point asked);
  void Begin(const std::string& name, Slot& slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Stamps `origin`, whose configuration is set, before anything is read.
  [[nodiscard]] Result LoadNow(std::int64_t generation, Origin& origin);
  [[nodiscard]] absl::Status UnloadNow(const std::string& name, bool forget);

  /// Makes these the models of the configuration, and returns the names that were and are no more.
  [[nodiscard]] std::vector<std::string> SetConfiguration(const std::vector<config::ModelConfig>& models);
  void FollowOne(const config::ModelConfig& model, service::ReloadReport& report);

  const bool is_explicit_;
  TableBudget budget_;
  core::ModelRegistry* const models_;
  service::Statistics* const statistics_;
  const ServingChanged changed_;
  core::Mutex one_follow_;     // held while a configuration is followed
  core::Mutex one_load_;       // held while a model is built
  mutable core::Mutex mutex_;  // held for a look and a change of state, never longer
  core::Condition state_changed_;
  std::map<std::string, Slot> slots_ ABSL_GUARDED_BY(mutex_);  // one is never erased: generations go on
  std::vector<std::string> order_ ABSL_GUARDED_BY(mutex_);     // as configured
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_MODEL_REPOSITORY_H_
