#include "server/config/read_numbering.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/config/read_optional.h"

namespace embd::config {
namespace {

constexpr std::array<absl::string_view, 4> kNumberings = {"sequential", "fixed", "padding", "mask"};
constexpr std::int64_t kLargestRowOffset = std::numeric_limits<std::int32_t>::max();

void CheckThatRowsAreNumbered(MapReader& position, const Positions& kind) {
  const bool none = std::holds_alternative<NoPositions>(kind);
  if (!none && !std::holds_alternative<RotaryPositions>(kind)) return;
  for (const absl::string_view key : {"numbering", "row_offset"}) {
    if (!position.Has(key)) continue;
    position.Report(key, absl::StrCat("does not go with ", none ? "none" : "rotary", ": no table row is numbered"));
  }
}

/// How many rows the position table has; 0 where only a file will tell, or there is no table.
std::int64_t RowsOf(const Positions& kind) {
  if (const auto* const learned = std::get_if<LearnedPositions>(&kind)) {
    const auto* const seeded = std::get_if<SeededPositions>(&learned->source);
    return seeded == nullptr ? 0 : seeded->max_context_length;
  }
  const auto* const computed = std::get_if<SinusoidalPositions>(&kind);
  if (computed == nullptr || !computed->max_context_length.has_value()) return 0;
  return std::max(*computed->max_context_length, computed->grow_to.value_or(0));
}

/// Reports a table that ends before the row where the numbering begins.
void CheckThatARowIsLeft(MapReader& position, const ModelConfig& model) {
  const std::int64_t rows = model.position.has_value() ? RowsOf(*model.position) : 0;
  std::int64_t first = model.row_offset.value_or(0);
  if (model.numbering == Numbering::kPadding) first += model.padding_idx.value_or(-1) + 1;
  if (rows < 1 || first < rows) return;
  position.Report(position.Has("row_offset") ? "row_offset" : "numbering",
                  absl::StrCat("begins at row ", first, ", the table has ", rows));
}

}  // namespace

void ReadNumbering(MapReader& position, ModelConfig& out) {
  out.numbering = ReadOptionalEnum<Numbering>(position, "numbering", kNumberings);
  out.row_offset = ReadOptionalInteger(position, "row_offset", {.min = 0, .max = kLargestRowOffset});
  if (out.position.has_value()) CheckThatRowsAreNumbered(position, *out.position);

  const bool spelled_out = out.path.empty();
  if (out.numbering == Numbering::kPadding && spelled_out && !out.padding_idx.has_value()) {
    position.Report("numbering", "padding needs padding_idx");
  }
  // With a path an offset that is not given may be inferred, one that is given may not.
  if (out.numbering == Numbering::kMask && (spelled_out || out.row_offset.has_value()) &&
      out.row_offset.value_or(0) < 1) {
    position.Report("numbering", "mask needs row_offset >= 1");
  }
  CheckThatARowIsLeft(position, out);
}

}  // namespace embd::config
