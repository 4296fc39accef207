#ifndef EMBD_SERVER_CORE_ENGINE_MODEL_REGISTRY_H_
#define EMBD_SERVER_CORE_ENGINE_MODEL_REGISTRY_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/engine/model.h"
#include "server/core/threads/mutex.h"

namespace embd::core {

/// The models that are served, by name, and the names of those that could be but are not.
///
/// Thread safety: thread-safe. A call takes one snapshot of its model and keeps it, whatever the registry does
/// meanwhile.
class ModelRegistry {
 public:
  /// Adds a model, or replaces the one of that name.
  void Put(std::shared_ptr<const Model> model);

  /// Takes the model of that name out, if there is one, and forgets the name. Calls that have the model keep it, and
  /// the last of them frees it; where none has it, it is freed before this returns.
  void Remove(const std::string& name);

  /// As Remove, but the name stays known: until the next Put or Remove, Find answers with `why`, which is not OK.
  void SetAbsent(const std::string& name, absl::Status why);

  /// The model of that name and version; an empty version means the one that is served.
  ///
  /// Errors: what SetAbsent has given, and
  ///   NOT_FOUND  [MODEL_NOT_FOUND], [VERSION_NOT_FOUND]; the message lists up to ten names that are served.
  [[nodiscard]] absl::StatusOr<std::shared_ptr<const Model>> Find(const std::string& name,
                                                                  absl::string_view version) const;

  /// All models, in order of name.
  [[nodiscard]] std::vector<std::shared_ptr<const Model>> All() const;

 private:
  // What a caller who names a model that is nowhere is told.
  [[nodiscard]] absl::Status NotFound(const std::string& name) const;

  mutable Mutex mutex_;  // held for a look-up and a reference count, never longer
  std::map<std::string, std::shared_ptr<const Model>> models_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, absl::Status> absent_ ABSL_GUARDED_BY(mutex_);  // names that models_ has not
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_MODEL_REGISTRY_H_
