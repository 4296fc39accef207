#ifndef EMBD_SERVER_SERVICE_STATISTICS_H_
#define EMBD_SERVER_SERVICE_STATISTICS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "server/core/threads/mutex.h"

namespace embd::service {

/// How often something was done, and how long that took in sum.
struct Duration {
  std::uint64_t count = 0;
  std::chrono::nanoseconds sum{0};

  void Add(std::chrono::nanoseconds elapsed) {
    ++count;
    sum += elapsed;
  }
};

/// Where the time of one successful request went.
struct Phases {
  std::chrono::nanoseconds total{0};    ///< from its arrival until its reply was gRPC's
  std::chrono::nanoseconds queue{0};    ///< waiting for a thread
  std::chrono::nanoseconds input{0};    ///< reading and checking
  std::chrono::nanoseconds compute{0};  ///< composing
  std::chrono::nanoseconds output{0};   ///< framing the reply
};

/// What has been asked of one model.
struct ModelCounts {
  /// The requests of one batch size.
  struct Batch {
    Duration input, compute, output;
  };
  std::string version;                 ///< of the model that answered last
  std::int64_t last_inference_ms = 0;  ///< when the last successful request arrived, since 1970; 0: none did
  std::uint64_t rows = 0;              ///< of the batches of successful requests
  Duration success, fail;
  Duration queue, input, compute, output;       ///< of successful requests
  std::map<std::int64_t, Batch> by_batch_size;  ///< of successful requests
};

/// Counts what is asked of the models, by name, over all protocols. A name keeps its counts whatever is loaded anew.
///
/// Thread safety: thread-safe; a call takes one lock for as long as adding a few numbers takes. Memory: for each model
/// one entry a batch size, of which there are at most max_batch_size; names that no model has had take none.
class Statistics {
 public:
  /// Begins to count for a model; does nothing where its name is counted already.
  void Open(const std::string& name, const std::string& version);

  /// A request whose reply has been made. Does nothing for a name that was not opened.
  void CountSuccess(const std::string& name, const std::string& version, std::int64_t batch_size, const Phases& phases);

  /// A request that named the model and was refused or given up after `elapsed`. Does nothing for a name that was not
  /// opened.
  void CountFailure(const std::string& name, std::chrono::nanoseconds elapsed);

  /// A copy of the model's counts; zeros for a name that was not opened.
  [[nodiscard]] ModelCounts Of(const std::string& name) const;

 private:
  mutable core::Mutex mutex_;
  std::map<std::string, ModelCounts> models_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_STATISTICS_H_
