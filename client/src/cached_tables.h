#ifndef EMBD_CLIENT_SRC_CACHED_TABLES_H_
#define EMBD_CLIENT_SRC_CACHED_TABLES_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "client/src/mutex.h"
#include "client/src/row_cache.h"
#include "embd/client/caching_client.h"
#include "embd/client/diagnostics.h"

namespace embd::client {

/// One load of a model, told apart from others by its checksum: what it does, and the rows of it that are kept.
///
/// Thread safety: the facts never change; token rows are under `mutex`, position rows are written under it; the rest is
/// atomic.
class CachedTables {
 public:
  CachedTables(ModelDescription model, const ServerLimits& limits, const CachingOptions& options);

  [[nodiscard]] const ModelDescription& model() const { return model_; }
  [[nodiscard]] const ServerLimits& limits() const { return limits_; }
  /// Why all calls must be passed on; "" where they need not.
  [[nodiscard]] const std::string& why_plain() const { return why_plain_; }

  [[nodiscard]] std::size_t dim() const { return static_cast<std::size_t>(model_.embedding_dim); }
  [[nodiscard]] DataType row_type() const { return row_type_; }
  [[nodiscard]] std::size_t row_bytes() const { return dim() * static_cast<std::size_t>(DataTypeSize(row_type_)); }
  /// The type in which position rows are fetched, without loss.
  [[nodiscard]] DataType position_type() const { return position_type_; }
  [[nodiscard]] bool has_positions() const { return model_.max_context_length.has_value(); }

  /// To be held shared while rows are looked up and read, and alone while they are put in.
  [[nodiscard]] SharedMutex& mutex() const ABSL_LOCK_RETURNED(mutex_) { return mutex_; }
  [[nodiscard]] const RowCache& rows() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return rows_; }
  [[nodiscard]] RowCache& rows_to_fill() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return rows_; }

  /// How many position rows there is room for, and how many are there, from position 0 on.
  [[nodiscard]] std::int64_t position_capacity() const { return position_capacity_; }
  [[nodiscard]] std::int64_t positions_ready() const { return positions_ready_.load(std::memory_order_acquire); }
  /// Row `position` < positions_ready(), which stays where it is.
  [[nodiscard]] const float* position_row(std::int64_t position) const {
    return position_rows_.get() + static_cast<std::size_t>(position) * dim();
  }
  /// Adds `count` rows of position_type() from `first` <= positions_ready() on; those that are there stay.
  void PutPositions(std::int64_t first, std::int64_t count, const std::byte* rows) ABSL_LOCKS_EXCLUDED(mutex_);

  /// The server has just said that these are its tables, loaded for the `generation`th time.
  void Confirm(std::int64_t generation);
  [[nodiscard]] std::int64_t generation() const { return generation_.load(std::memory_order_relaxed); }
  /// How long ago that was.
  [[nodiscard]] absl::Duration age() const;

  /// Memory that is held. Takes the mutex.
  [[nodiscard]] std::size_t byte_size() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Clock = std::chrono::steady_clock;

  const ModelDescription model_;
  const ServerLimits limits_;
  std::string why_plain_;
  DataType row_type_ = DataType::kFloat32;
  DataType position_type_ = DataType::kFloat32;
  std::int64_t position_capacity_ = 0;
  std::unique_ptr<float[]> position_rows_;  // of which the first positions_ready_ never change
  std::atomic<std::int64_t> positions_ready_ = 0;
  std::atomic<std::int64_t> generation_;
  std::atomic<Clock::rep> confirmed_;
  mutable SharedMutex mutex_;
  RowCache rows_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_CACHED_TABLES_H_
