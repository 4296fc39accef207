#include "client/src/cached_tables.h"

#include <algorithm>
#include <new>
#include <utility>

#include "client/src/compose_rows.h"
#include "client/src/plain_reason.h"

namespace embd::client {
namespace {

bool IsNarrow(DataType type) { return type == DataType::kFloat16 || type == DataType::kBfloat16; }

// The type in which rows of the table that are multiplied by `scale` travel without loss.
DataType ExactType(const ModelDescription& model, TableKind kind, double scale) {
  for (const TableDescription& table : model.tables) {
    if (table.kind == kind && scale == 1 && IsNarrow(table.data_type)) return table.data_type;
  }
  return DataType::kFloat32;
}

std::int64_t PositionCapacity(const ModelDescription& model, std::size_t max_bytes) {
  const std::size_t row_bytes = static_cast<std::size_t>(model.embedding_dim) * sizeof(float);
  return std::min(model.max_context_length.value_or(0), static_cast<std::int64_t>(max_bytes / 2 / row_bytes));
}

}  // namespace

CachedTables::CachedTables(ModelDescription model, const ServerLimits& limits, const CachingOptions& options)
    : model_(std::move(model)),
      limits_(limits),
      why_plain_(WhyModelIsPlain(model_)),
      row_type_(options.row_type != DataType::kUnspecified ? options.row_type
                                                           : ExactType(model_, TableKind::kToken, model_.token_scale)),
      position_type_(ExactType(model_, TableKind::kPosition, 1)),
      position_capacity_(why_plain_.empty() ? PositionCapacity(model_, options.max_bytes) : 0),
      position_rows_(new (std::nothrow) float[static_cast<std::size_t>(position_capacity_) * dim()]),
      generation_(model_.generation),
      confirmed_(Clock::now().time_since_epoch().count()),
      rows_(why_plain_.empty() ? row_bytes() : 1,
            why_plain_.empty()
                ? options.max_bytes - static_cast<std::size_t>(position_capacity_) * dim() * sizeof(float)
                : 0,
            static_cast<std::size_t>(std::max<std::int64_t>(model_.vocab_size, 0))) {
  if (position_rows_ == nullptr) position_capacity_ = 0;
  if (why_plain_.empty() && rows_.capacity() == 0) why_plain_ = "there is no room for a row in max_bytes";
}

void CachedTables::PutPositions(std::int64_t first, std::int64_t count, const std::byte* rows) {
  const WriterLock lock(&mutex_);
  const std::int64_t ready = positions_ready();
  const std::int64_t known = std::min(ready - first, count);
  const auto new_rows = static_cast<std::size_t>(count - known);
  const std::size_t skipped =
      static_cast<std::size_t>(known) * dim() * static_cast<std::size_t>(DataTypeSize(position_type_));
  Widen(rows + skipped, position_type_, new_rows * dim(),
        position_rows_.get() + static_cast<std::size_t>(ready) * dim());
  positions_ready_.store(ready + static_cast<std::int64_t>(new_rows), std::memory_order_release);
}

void CachedTables::Confirm(std::int64_t generation) {
  generation_.store(generation, std::memory_order_relaxed);
  confirmed_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

absl::Duration CachedTables::age() const {
  return absl::FromChrono(Clock::now().time_since_epoch() -
                          Clock::duration(confirmed_.load(std::memory_order_relaxed)));
}

std::size_t CachedTables::byte_size() const {
  const ReaderLock lock(&mutex_);
  return rows_.byte_size() + static_cast<std::size_t>(positions_ready()) * dim() * sizeof(float);
}

}  // namespace embd::client
