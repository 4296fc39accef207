// Hot path: Compose takes no lock, allocates nothing a row and never logs.
#include "server/core/engine/embed_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "server/core/engine/embed_checks.h"
#include "server/core/kernels/compose.h"

namespace embd::core {

absl::StatusOr<EmbedPlan> EmbedPlan::Create(std::shared_ptr<const Model> model, EmbedInput input,
                                            const EmbedLimits& limits) {
  if (absl::Status status = CheckEmbedInput(*model, input, limits); !status.ok()) return status;
  return EmbedPlan(std::move(model), std::move(input));
}

std::int64_t EmbedPlan::PositionOf(std::int64_t batch, std::int64_t token) const {
  if (!input_.position_ids.empty()) {
    const bool shared = static_cast<std::int64_t>(input_.position_ids.size()) == input_.sequence_length;
    return input_.position_ids[static_cast<std::size_t>(shared ? token : batch * input_.sequence_length + token)];
  }
  if (input_.position_offsets.empty()) return token;
  return input_.position_offsets[input_.position_offsets.size() == 1 ? 0 : static_cast<std::size_t>(batch)] + token;
}

void EmbedPlan::Compose(std::int64_t first_row, std::int64_t row_count, std::span<std::byte> out) const {
  constexpr std::int64_t kBlockRows = 128;
  std::array<std::int64_t, kBlockRows> position_rows;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  const bool with_token = input_.part != Part::kPosition;
  const bool with_position = input_.part != Part::kToken && model_->position() != nullptr;
  std::int64_t batch = first_row / input_.sequence_length;
  std::int64_t token = first_row % input_.sequence_length;
  for (std::int64_t done = 0; done < row_count;) {
    const std::int64_t rows = std::min(kBlockRows, row_count - done);
    if (with_position) {
      for (std::int64_t r = 0; r < rows; ++r) {
        position_rows[static_cast<std::size_t>(r)] = PositionOf(batch, token);
        if (++token == input_.sequence_length) {
          token = 0;
          ++batch;
        }
      }
    }
    core::Compose({.token = with_token ? &model_->token().table : nullptr,
                   .token_rows = with_token ? input_.ids.data() + first_row + done : nullptr,
                   .position = with_position ? &model_->position()->table : nullptr,
                   .position_rows = position_rows.data(),
                   .row_count = static_cast<std::size_t>(rows),
                   .output_type = input_.output_type,
                   .out = out.data() + static_cast<std::size_t>(done) * row_bytes()});
    done += rows;
  }
}

}  // namespace embd::core
