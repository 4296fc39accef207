#ifndef EMBD_CLIENT_SRC_CACHED_BATCH_H_
#define EMBD_CLIENT_SRC_CACHED_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/src/cached_tables.h"
#include "client/src/cell_positions.h"
#include "client/src/id_index.h"
#include "embd/client/client.h"

namespace embd::client {

/// What one call did, for CachingStatistics.
struct BatchCounts {
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  std::int64_t rows_fetched = 0;
  std::int64_t position_rows_fetched = 0;
  std::int64_t bytes_fetched = 0;
};

/// One batch on its way through the cache. The request is one that nothing stands against, and outlives this.
///
/// Thread safety: not thread-safe; one a call.
class CachedBatch {
 public:
  /// Asks the server with what is left of the call's options.
  using Options = absl::FunctionRef<CallOptions()>;

  CachedBatch(const Client& client, const EmbedRequest& request, CachedTables& tables, Options options);

  /// Fetches position rows [0, end), and some more, where they are not there. `end` is at most position_capacity().
  ///
  /// Errors: those of Client::EmbedInto; FAILED_PRECONDITION [TABLES_CHANGED] the server has other tables by now.
  [[nodiscard]] absl::Status NeedPositions(std::int64_t end);

  /// Fetches the rows that are missing, writes the tensor where `place` says, and keeps what was fetched. `positions`
  /// is null where none are added. False where other calls take the rows out of the cache as fast as this one puts them
  /// in. Tables that were confirmed longer ago than `max_age` are confirmed first.
  ///
  /// Errors: as NeedPositions, and those of `place`; nothing is written then.
  [[nodiscard]] absl::StatusOr<bool> Compose(const CellPositions* positions, absl::Duration max_age,
                                             absl::FunctionRef<absl::StatusOr<std::span<std::byte>>()> place);

  [[nodiscard]] const BatchCounts& counts() const { return counts_; }

 private:
  [[nodiscard]] absl::Status Ask(EmbedRequest request, std::span<std::byte> out);
  [[nodiscard]] absl::Status Verify();
  [[nodiscard]] absl::Status FetchMissing();
  void FindRows() ABSL_SHARED_LOCKS_REQUIRED(tables_.mutex());
  void Write(const CellPositions* positions, std::span<std::byte> out) const
      ABSL_SHARED_LOCKS_REQUIRED(tables_.mutex());
  void Keep() ABSL_LOCKS_EXCLUDED(tables_.mutex());

  const Client& client_;
  const EmbedRequest& request_;
  CachedTables& tables_;
  Options options_;
  BatchCounts counts_;
  std::vector<const std::byte*> rows_;  // one a cell; null while it is missing
  std::vector<std::int64_t> missing_;
  // Of the rows that were fetched for this batch, or will be.
  IdIndex fetched_;
  std::vector<std::int64_t> fetched_ids_;
  std::vector<const std::byte*> fetched_rows_;
  std::vector<std::unique_ptr<std::byte[]>> fetched_memory_;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_CACHED_BATCH_H_
