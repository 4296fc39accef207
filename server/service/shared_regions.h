#ifndef EMBD_SERVER_SERVICE_SHARED_REGIONS_H_
#define EMBD_SERVER_SERVICE_SHARED_REGIONS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "embd/v1/admin.pb.h"
#include "server/core/regions/shared_region.h"
#include "server/core/threads/mutex.h"

namespace embd::service {

/// What the configuration allows of shared memory.
struct RegionLimits {
  std::string prefix;  ///< how the paths of files begin: absolute, without "..", not "/"; empty: regions are off
  std::int64_t max_regions = 0;  ///< at most core::SharedRegion::kMaxRegions
  std::int64_t max_bytes = 0;    ///< of all regions together
};

/// The regions of shared memory that callers have registered, by name.
///
/// Thread safety: thread-safe. A call takes one snapshot of its region and keeps it mapped, whatever is unregistered
/// meanwhile; until then the region counts against the limits.
class SharedRegions {
 public:
  SharedRegions() : SharedRegions(RegionLimits{}) {}  ///< off
  explicit SharedRegions(RegionLimits limits) : limits_(std::move(limits)) {}

  [[nodiscard]] const RegionLimits& limits() const { return limits_; }
  [[nodiscard]] bool on() const { return !limits_.prefix.empty(); }

  /// Maps a region; its name is taken from the beginning, but `Find` sees it once it is mapped. Cost: that of
  /// core::SharedRegion::Map; the lock is not held for it.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT    [INVALID_OPTION] no name, an offset or a size below its range, or a sum that overflows;
  ///                       [CANNOT_MAP]
  ///   PERMISSION_DENIED   [REGION_FORBIDDEN] the path is not under the prefix
  ///   FAILED_PRECONDITION [REGION_EXISTS] the name is taken
  ///   RESOURCE_EXHAUSTED  [TOO_MANY_REGIONS]
  [[nodiscard]] absl::Status Register(const v1::Region& region);

  /// Errors: NOT_FOUND [REGION_NOT_FOUND], with up to ten names there are.
  [[nodiscard]] absl::Status Unregister(const std::string& name);

  /// The region of that name. Errors: as Unregister.
  [[nodiscard]] absl::StatusOr<std::shared_ptr<const core::SharedRegion>> Find(const std::string& name) const;

  /// In order of name.
  [[nodiscard]] std::vector<v1::Region> All() const;

 private:
  // What is mapped, or about to be; outlives this where calls do.
  struct Usage {
    core::Mutex mutex;
    std::int64_t regions ABSL_GUARDED_BY(mutex) = 0;
    std::int64_t bytes ABSL_GUARDED_BY(mutex) = 0;
  };
  // Counts one region as long as it lives.
  class Share {
   public:
    Share(std::shared_ptr<Usage> usage, std::int64_t bytes) : usage_(std::move(usage)), bytes_(bytes) {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share();

   private:
    const std::shared_ptr<Usage> usage_;
    const std::int64_t bytes_;
  };
  struct Entry {
    v1::Region description;
    std::shared_ptr<const core::SharedRegion> memory;  // null: being mapped
  };

  [[nodiscard]] absl::StatusOr<std::shared_ptr<const core::SharedRegion>> Map(const v1::Region& region);
  [[nodiscard]] absl::StatusOr<std::unique_ptr<Share>> Count(std::int64_t bytes);
  [[nodiscard]] absl::Status NotFound(const std::string& name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const RegionLimits limits_;
  const std::shared_ptr<Usage> usage_ = std::make_shared<Usage>();
  mutable core::Mutex mutex_;  // held for a look-up, never longer
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_SHARED_REGIONS_H_
