#include "server/core/position/growing_rows.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::core {

absl::StatusOr<std::unique_ptr<GrowingRows>> GrowingRows::Create(std::int64_t first_row, std::int64_t end_row,
                                                                 SinusoidalRows rows) {
  if (first_row < 0 || end_row <= first_row) {
    return InvalidArgument("INVALID_TABLE", absl::StrCat("grow_to must be more than max_context_length ", first_row,
                                                         ", got ", end_row));
  }
  const auto bytes = TableBytes(end_row - first_row, rows.dim(), ElementType::kFloat32);
  if (!bytes.ok()) return bytes.status();
  auto storage = AlignedBuffer::Allocate(*bytes);
  if (!storage.ok()) return storage.status();
  return std::unique_ptr<GrowingRows>(new GrowingRows(first_row, end_row, std::move(rows), *std::move(storage)));
}

GrowingRows::GrowingRows(std::int64_t first_row, std::int64_t end_row, SinusoidalRows rows, AlignedBuffer storage)
    : first_row_(first_row),
      end_row_(end_row),
      rows_(std::move(rows)),
      row_bytes_(static_cast<std::size_t>(rows_.dim()) * sizeof(float)),
      storage_(std::move(storage)),
      computed_end_(first_row) {}

void GrowingRows::EnsureRows(std::int64_t end_row) {
  if (computed_end_.load(std::memory_order_acquire) >= end_row) return;
  const MutexLock lock(&mutex_);
  for (std::int64_t row = computed_end_.load(std::memory_order_relaxed); row < end_row; ++row) {
    auto* const out = storage_.data() + static_cast<std::size_t>(row - first_row_) * row_bytes_;
    rows_.Compute(row, reinterpret_cast<float*>(out));
    computed_end_.store(row + 1, std::memory_order_release);
  }
}

}  // namespace embd::core
