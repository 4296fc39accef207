#ifndef EMBD_SERVER_SERVICE_STATISTICS_H_
#define EMBD_SERVER_SERVICE_STATISTICS_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "server/core/threads/mutex.h"
#include "server/service/call_counts.h"

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

/// Where the time of one request went. The phases need not add up to `total`: what a caller takes to read the messages
/// of a reply in parts is in none of them.
struct Phases {
  std::chrono::nanoseconds total{0};    ///< from its arrival until the last of its reply was made
  std::chrono::nanoseconds queue{0};    ///< waiting for a thread
  std::chrono::nanoseconds input{0};    ///< reading and checking
  std::chrono::nanoseconds compute{0};  ///< composing, which waits for no other request
  std::chrono::nanoseconds output{0};   ///< framing the reply
};

/// Why a request failed, in the words of Triton's metrics.
enum class FailureReason {
  kRejected,  ///< no room for it now, or not served now
  kCanceled,  ///< given up by its caller, or its deadline passed
  kBackend,   ///< our fault
  kOther,     ///< it asked for what it cannot have
};
inline constexpr std::size_t kFailureReasons = 4;

/// The reason of a request that ended with `code`, which is not OK.
[[nodiscard]] FailureReason ReasonOf(absl::StatusCode code);

/// How much a successful request has got.
struct Answered {
  std::int64_t sequence_length = 0;  ///< of the batch; below 0: it has none
  std::size_t reply_bytes = 0;       ///< of its messages
};

/// What has been asked of one model. A request is a unary call, an item of a stream, or a call that is answered in
/// parts; each is executed on its own.
struct ModelCounts {
  /// The requests of one batch size.
  struct Batch {
    std::int64_t size = 0;
    Duration input, compute, output;
  };
  std::string version;                 ///< of the model that was loaded last
  std::int64_t last_inference_ms = 0;  ///< the latest arrival of a successful request, since 1970; 0: there was none
  std::uint64_t rows = 0;              ///< of the batches of successful requests
  Duration success, fail;
  Duration queue, input, compute, output;  ///< of successful requests
  std::vector<Batch> by_batch_size;        ///< of successful requests, in order of size
  std::uint64_t tokens = 0;                ///< of successful requests, as is what follows
  std::uint64_t reply_bytes = 0;
  /// How many took how long, in the buckets of CallCounts.
  std::array<std::uint64_t, CallCounts::kBucketEnds.size() + 1> durations{};
  std::array<std::uint64_t, kFailureReasons> failures{};  ///< by FailureReason
  std::int64_t waiting = 0;                               ///< requests that wait for a thread now
  std::chrono::nanoseconds load_time{0};                  ///< of the load that came last
};

/// Counts what is asked of the models, by name, over all protocols. A name keeps its counts whatever is loaded anew.
///
/// Thread safety: thread-safe. Counting holds the one lock for as long as adding a few numbers takes; `Of` for as long
/// as copying them, 10 ns a batch size. Memory: 56 bytes for each batch size of each model that was served, twice that
/// where memory was kept for more; there are at most max_batch_size + 1. Names that were not opened take none.
class Statistics {
 public:
  /// Begins to count for a model, or goes on where its name is counted already: then only the version is replaced.
  void Open(const std::string& name, const std::string& version);

  /// Remembers how long the model took to load. Does nothing for a name that was not opened.
  void SetLoadTime(const std::string& name, std::chrono::nanoseconds load_time);

  /// A request whose reply is made, to be told before the caller can have it, so that who asks for the counts after a
  /// reply finds it counted. Does nothing for a name that was not opened.
  ///
  /// Throws std::bad_alloc where there is no memory for a batch size that is new; nothing is counted then.
  void CountSuccess(const std::string& name, std::int64_t batch_size, const Phases& phases,
                    const Answered& answered = {});

  /// A request that named the model, in whatever version, and was refused or given up after `elapsed`. One for a name
  /// that was not opened counts as unknown. Throws nothing.
  void CountFailure(const std::string& name, absl::StatusCode code, std::chrono::nanoseconds elapsed);

  /// Adds to the requests for the model that wait for a thread, or takes from them. Does nothing for a name that was
  /// not opened.
  void CountWaiting(const std::string& name, std::int64_t change);

  /// That a model was to be loaded, or the configuration read again, while the server ran.
  void CountReload(bool succeeded) { (succeeded ? reloads_ : failed_reloads_).fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t reloads() const { return reloads_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t failed_reloads() const { return failed_reloads_.load(std::memory_order_relaxed); }

  /// The names that were opened, in order.
  [[nodiscard]] std::vector<std::string> Names() const;

  /// The failed requests, by FailureReason, whose names were not opened: those of other models, and those that were
  /// refused before they could be read.
  [[nodiscard]] std::array<std::uint64_t, kFailureReasons> UnknownFailures() const;

  /// A copy of the model's counts, all of one moment; zeros for a name that was not opened.
  [[nodiscard]] ModelCounts Of(const std::string& name) const;

 private:
  mutable core::Mutex mutex_;
  std::map<std::string, ModelCounts> models_ ABSL_GUARDED_BY(mutex_);
  std::array<std::uint64_t, kFailureReasons> unknown_ ABSL_GUARDED_BY(mutex_){};
  std::atomic<std::uint64_t> reloads_ = 0;
  std::atomic<std::uint64_t> failed_reloads_ = 0;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_STATISTICS_H_
