#include "server/config/read_numbering.h"

#include <array>
#include <cstdint>
#include <limits>
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
}

}  // namespace embd::config
