#ifndef EMBD_SERVER_APP_MODEL_REPOSITORY_H_
#define EMBD_SERVER_APP_MODEL_REPOSITORY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "server/app/table_budget.h"
#include "server/config/server_config.h"
#include "server/core/engine/model_registry.h"
#include "server/core/threads/mutex.h"
#include "server/service/model_control.h"
#include "server/service/statistics.h"

namespace embd::app {

/// The models that a configuration names, and whether each is served. Everything that is ever served has gone through
/// here.
///
/// Loads of different models run one after the other, so that their peaks of memory do not add up. A model's generation
/// is 1 when it is loaded first and one more each time it is loaded again, also after it was unloaded.
/// Thread safety: thread-safe.
class ModelRepository final : public service::ModelControl {
 public:
  /// Told that a model is served from now on, or no more, before the call of Load or Unload returns: for one model in
  /// the order in which it happens, for several perhaps at once. Must not call the repository.
  using ServingChanged = std::function<void(const std::string& name, bool serving)>;

  /// Loads nothing yet. `models` and `statistics` must outlive the repository.
  ModelRepository(const config::ServerConfig& config, TableBudget budget, core::ModelRegistry* models,
                  service::Statistics* statistics, ServingChanged changed);

  /// Loads all models in the order of the configuration, whether control is explicit or not.
  ///
  /// Errors: those of BuildModel, of the first model that cannot be loaded; those behind it are not tried.
  [[nodiscard]] absl::Status LoadAll();

  [[nodiscard]] bool is_explicit() const override { return is_explicit_; }
  [[nodiscard]] std::vector<Entry> Index() const override;
  [[nodiscard]] absl::Status Load(const std::string& name) override;
  [[nodiscard]] absl::Status Unload(const std::string& name) override;

 private:
  /// One load, for all who have asked for it.
  struct Attempt {
    bool done = false;
    absl::Status result;
  };

  /// A model's state. Only one thread at a time changes what is served: that of `attempt`, or the one that unloads.
  struct Slot {
    State state = State::kUnavailable;
    std::string reason = "not loaded yet";
    std::int64_t generation = 0;       // of the last one that was loaded
    std::shared_ptr<Attempt> attempt;  // null while none is under way
    bool unloading = false;
  };

  [[nodiscard]] absl::Status CheckAllowed(const std::string& name) const;
  [[nodiscard]] absl::Status LoadOrShare(const config::ModelConfig& config);
  [[nodiscard]] absl::Status LoadNow(const config::ModelConfig& config, std::int64_t generation);

  const std::vector<config::ModelConfig> order_;                   // as configured
  const std::map<std::string, const config::ModelConfig*> names_;  // into order_
  const bool is_explicit_;
  TableBudget budget_;
  core::ModelRegistry* const models_;
  service::Statistics* const statistics_;
  const ServingChanged changed_;
  core::Mutex one_load_;       // held while a model is built
  mutable core::Mutex mutex_;  // held for a look and a change of state, never longer
  core::Condition state_changed_;
  std::map<std::string, Slot> slots_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_MODEL_REPOSITORY_H_
