#include "server/core/position/growing_rows.h"

#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::core {

absl::StatusOr<std::unique_ptr<GrowingRows>> GrowingRows::Create(std::int64_t first_row, std::int64_t end_row,
                                                                 SinusoidalRows rows) {
  if (first_row < 0 || end_row <= first_row) {
    return InvalidArgument("INVALID_TABLE",
                           absl::StrCat("grow_to must be more than max_context_length ", first_row, ", got ", end_row));
  }
  const auto bytes = TableBytes(end_row - first_row, rows.dim(), ElementType::kFloat32);
  if (!bytes.ok()) return bytes.status();
  auto storage = AlignedBuffer::Allocate(*bytes);
  if (!storage.ok()) return storage.status();
  try {
    return std::unique_ptr<GrowingRows>(new GrowingRows(first_row, end_row, std::move(rows), *std::move(storage)));
  } catch (const std::bad_alloc&) {
    return Error(absl::StatusCode::kResourceExhausted, "OUT_OF_MEMORY",
                 absl::StrCat("not enough memory for the states of ", end_row - first_row, " rows"));
  }
}

GrowingRows::GrowingRows(std::int64_t first_row, std::int64_t end_row, SinusoidalRows rows, AlignedBuffer storage)
    : first_row_(first_row),
      end_row_(end_row),
      rows_(std::move(rows)),
      row_bytes_(static_cast<std::size_t>(rows_.dim()) * sizeof(float)),
      storage_(std::move(storage)),
      states_(std::make_unique<std::atomic<State>[]>(static_cast<std::size_t>(end_row - first_row))) {}

const std::byte* GrowingRows::row(std::int64_t index) {
  const auto i = static_cast<std::size_t>(index - first_row_);
  std::byte* const row = storage_.data() + i * row_bytes_;
  std::atomic<State>& state = states_[i];
  State seen = state.load(std::memory_order_acquire);
  if (seen == State::kThere) return row;
  if (seen == State::kMissing && state.compare_exchange_strong(seen, State::kBeingComputed)) {
    rows_.Compute(index, reinterpret_cast<float*>(row));
    state.store(State::kThere, std::memory_order_release);
    state.notify_all();
    return row;
  }
  while ((seen = state.load(std::memory_order_acquire)) != State::kThere) state.wait(seen);
  return row;
}

}  // namespace embd::core
