#include "server/core/engine/embed_plan.h"

namespace embd::core {

std::vector<std::int64_t> EmbedPlan::AddedRows(TableRole role) const {
  const auto& types = input_.token_type_ids;
  const bool adds_types = part() == Part::kComposed && model_->token_types().has_value() &&
                          !(types.empty() && model_->token_types()->only_when_sent);
  const auto row_of = [&](std::int64_t cell) {
    const auto i = static_cast<std::size_t>(cell);
    if (ZeroesMasked() && input_.attention_mask[i] == 0) return kNoRow;
    switch (role) {
      case TableRole::kToken: return part() == Part::kPosition ? kNoRow : input_.ids[i];
      case TableRole::kPosition: return positions_.used ? PositionRow(shape_.PlaceOf(cell), cell) : kNoRow;
      case TableRole::kTokenType: break;
    }
    if (!adds_types) return kNoRow;
    return types.empty() ? 0 : types[i];
  };
  std::vector<std::int64_t> rows(static_cast<std::size_t>(shape_.cells()));
  for (std::int64_t cell = 0; cell < shape_.cells(); ++cell) rows[static_cast<std::size_t>(cell)] = row_of(cell);
  return rows;
}

EmbedPlan::TokenFactors EmbedPlan::TokenFactorsOf(std::int64_t cell) const {
  if (divisors_.empty()) return {.scale = model_->token_scale(), .divisor = 1.0f};
  return {.scale = kKeptAtTraining, .divisor = divisors_[static_cast<std::size_t>(shape_.PlaceOf(cell).row)]};
}

}  // namespace embd::core
