#ifndef EMBD_SERVER_CORE_ENGINE_MODEL_REGISTRY_H_
#define EMBD_SERVER_CORE_ENGINE_MODEL_REGISTRY_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/engine/model.h"
#include "server/core/threads/mutex.h"

namespace embd::core {

/// The models that are served, by name.
///
/// Thread safety: thread-safe. A call takes one snapshot of its model and keeps it, whatever the registry does
/// meanwhile.
class ModelRegistry {
 public:
  /// Adds a model, or replaces the one of that name.
  void Put(std::shared_ptr<const Model> model);

  /// Takes the model of that name out, if there is one. Calls that have it keep it, and the last of them frees it;
  /// where none has it, it is freed before this returns.
  void Remove(const std::string& name);

  /// The model of that name and version; an empty version means the one that is served.
  ///
  /// Errors:
  ///   NOT_FOUND  [MODEL_NOT_FOUND], [VERSION_NOT_FOUND]; the message lists up to ten names there are.
  [[nodiscard]] absl::StatusOr<std::shared_ptr<const Model>> Find(const std::string& name,
                                                                  absl::string_view version) const;

  /// All models, in order of name.
  [[nodiscard]] std::vector<std::shared_ptr<const Model>> All() const;

 private:
  mutable Mutex mutex_;  // held for a look-up and a reference count, never longer
  std::map<std::string, std::shared_ptr<const Model>> models_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_MODEL_REGISTRY_H_
