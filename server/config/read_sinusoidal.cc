#include "server/config/read_sinusoidal.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "server/config/read_optional.h"
#include "server/config/read_rows.h"

namespace embd::config {
namespace {

constexpr std::array<absl::string_view, 3> kLayouts = {"interleaved", "half", "tensor2tensor"};

std::int64_t WidthForSize(std::int64_t width) { return width == 0 ? 1 : width; }

void ReadGrowTo(MapReader& sinusoidal, std::int64_t width, SinusoidalPositions& out) {
  const std::int64_t computed = out.max_context_length.value_or(0);
  if (computed >= kLargestGrowTo && sinusoidal.Has("grow_to")) {
    return sinusoidal.Report("grow_to", absl::StrCat("does not go with max_context_length ", computed,
                                                     ": tables grow to at most ", kLargestGrowTo, " positions"));
  }
  out.grow_to = ReadOptionalInteger(sinusoidal, "grow_to", {.min = computed + 1, .max = kLargestGrowTo});
  CheckTableSize(sinusoidal, "grow_to", out.grow_to.value_or(0), WidthForSize(width));
}

void CheckWidth(MapReader& sinusoidal, std::int64_t width, SinusoidalLayout layout) {
  if (layout == SinusoidalLayout::kInterleaved && width % 2 != 0) {
    sinusoidal.Report(absl::StrCat("embedding_dim must be even for sinusoidal, got ", width));
  }
  // Its frequencies are spaced by 1 / (floor(width / 2) - 1).
  if (layout == SinusoidalLayout::kTensor2Tensor && width / 2 == 1) {
    sinusoidal.Report(
        absl::StrCat("embedding_dim must not be 2 or 3 for tensor2tensor, which divides by zero there, got ", width));
  }
}

}  // namespace

SinusoidalPositions ReadSinusoidal(MapReader& sinusoidal, std::int64_t width, bool has_path) {
  SinusoidalPositions positions;
  if (!has_path) sinusoidal.Require("max_context_length");
  positions.max_context_length = ReadOptionalInteger(sinusoidal, "max_context_length", {});
  CheckTableSize(sinusoidal, "max_context_length", positions.max_context_length.value_or(0), WidthForSize(width));
  positions.base = ReadOptionalNumber(sinusoidal, "base", kPositiveNumber);
  positions.layout = ReadOptionalEnum<SinusoidalLayout>(sinusoidal, "layout", kLayouts);
  ReadGrowTo(sinusoidal, width, positions);
  CheckWidth(sinusoidal, width, positions.layout.value_or(SinusoidalLayout::kInterleaved));
  return positions;
}

}  // namespace embd::config
