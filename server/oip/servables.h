#ifndef EMBD_SERVER_OIP_SERVABLES_H_
#define EMBD_SERVER_OIP_SERVABLES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "server/core/engine/model_registry.h"
#include "server/core/threads/mutex.h"
#include "server/oip/embedding_servable.h"
#include "server/oip/servable.h"

namespace embd::oip {

/// What requests of this protocol can name: the models of a registry, and others that are given once.
///
/// Thread safety: thread-safe.
class Servables {
 public:
  /// `models` outlives this. `others` go before models of the same name.
  Servables(const core::ModelRegistry* models, const EmbeddingOptions& options,
            const std::vector<std::shared_ptr<const Servable>>& others);

  /// The servable of that name and version; an empty version means the one that is served. Cost: two locks, for two
  /// look-ups.
  ///
  /// Errors:
  ///   NOT_FOUND         [MODEL_NOT_FOUND] the name is nowhere; [VERSION_NOT_FOUND] a number that is not its version
  ///   UNAVAILABLE       [MODEL_LOADING], [MODEL_NOT_LOADED] the configuration names it, but it is not served
  ///   INVALID_ARGUMENT  [INVALID_OPTION] a version that is neither its own nor a number
  [[nodiscard]] absl::StatusOr<std::shared_ptr<const Servable>> Find(const std::string& name,
                                                                     const std::string& version) const;

  /// All that can be called now, in order of name.
  [[nodiscard]] std::vector<std::shared_ptr<const Servable>> All() const;

 private:
  [[nodiscard]] std::shared_ptr<const Servable> OfModel(std::shared_ptr<const core::Model> model) const;

  const core::ModelRegistry& models_;
  const EmbeddingOptions options_;
  std::map<std::string, std::shared_ptr<const Servable>> others_;
  mutable core::Mutex mutex_;  // held for a look-up, never longer
  // Made once a model, which it does not keep alive; a model that is loaded anew gets a new one.
  struct Made {
    std::weak_ptr<const core::Model> model;
    std::shared_ptr<const Signature> signature;
  };
  mutable std::map<std::string, Made> made_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_SERVABLES_H_
