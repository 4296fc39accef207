#ifndef EMBD_CLIENT_FAKE_POSITIONS_H_
#define EMBD_CLIENT_FAKE_POSITIONS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "client/fake/batch.h"

namespace embd::client::fake {

/// The positions that a model's table has room for.
[[nodiscard]] std::int64_t ContextLength(const FakeModel& model);

/// Whether attention_mask has a say in the positions of this request.
[[nodiscard]] bool MaskMatters(const FakeModel& model, const EmbedRequest& request);

/// The row of the position table for each cell, or nothing where the part does not look at the table; as
/// PositionNumbering says.
///
/// Errors: those of the values of position_ids and position_offsets, and of the context length.
[[nodiscard]] absl::StatusOr<std::vector<std::int64_t>> PositionRowsOf(const FakeModel& model,
                                                                       const EmbedRequest& request, const Batch& batch);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_POSITIONS_H_
