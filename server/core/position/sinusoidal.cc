#include "server/core/position/sinusoidal.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/position/sinusoidal_frequencies.h"

namespace embd::core {
namespace {

absl::Status Invalid(absl::string_view message) { return InvalidArgument("INVALID_TABLE", message); }

absl::Status CheckWidth(std::int64_t dim, SinusoidalLayout layout) {
  if (dim < 1) return Invalid(absl::StrCat("embedding_dim must be >= 1, got ", dim));
  if (layout == SinusoidalLayout::kInterleaved && dim % 2 != 0) {
    return Invalid(absl::StrCat("embedding_dim must be even for sinusoidal, got ", dim));
  }
  if (layout == SinusoidalLayout::kTensor2Tensor && (dim == 2 || dim == 3)) {
    return Invalid(
        absl::StrCat("embedding_dim must not be 2 or 3 for the sinusoidal layout tensor2tensor, whose "
                     "exponent i / (embedding_dim / 2 - 1) divides by zero then, got ",
                     dim));
  }
  return absl::OkStatus();
}

absl::Status Check(std::int64_t max_rows, std::int64_t dim, const SinusoidalFormula& formula) {
  if (max_rows < 1) return Invalid(absl::StrCat("max_context_length must be >= 1, got ", max_rows));
  if (absl::Status status = CheckWidth(dim, formula.layout); !status.ok()) return status;
  if (!std::isfinite(formula.base) || formula.base <= 0) {
    return Invalid(absl::StrCat("base must be finite and > 0, got ", formula.base));
  }
  // A base below 1 makes frequencies grow; the last one is the largest.
  const std::int64_t sines = SineColumns(dim, formula.layout);
  if (sines > 0 && !std::isfinite(static_cast<double>(max_rows) * SinusoidalFrequency(sines - 1, dim, formula))) {
    return Invalid(absl::StrCat("base ", formula.base, " is too small for ", max_rows, " positions"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view SinusoidalLayoutName(SinusoidalLayout layout) {
  switch (layout) {
    case SinusoidalLayout::kInterleaved: return "interleaved";
    case SinusoidalLayout::kHalf: return "half";
    case SinusoidalLayout::kTensor2Tensor: return "tensor2tensor";
  }
  return "";
}

absl::StatusOr<SinusoidalRows> SinusoidalRows::Create(std::int64_t max_rows, std::int64_t dim,
                                                      const SinusoidalFormula& formula) {
  if (absl::Status status = Check(max_rows, dim, formula); !status.ok()) return status;
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < SineColumns(dim, formula.layout); ++i) {
    frequencies.push_back(SinusoidalFrequency(i, dim, formula));
  }
  return SinusoidalRows(dim, formula, std::move(frequencies));
}

void SinusoidalRows::Compute(std::int64_t position, float* out) const {
  if (formula_.padding_row == position) {
    std::fill_n(out, dim_, 0.0f);
    return;
  }
  const auto dim = static_cast<std::size_t>(dim_);
  const auto angle_of = [&](std::size_t i) { return static_cast<double>(position) * frequencies_[i]; };
  if (formula_.layout == SinusoidalLayout::kInterleaved) {
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
      out[2 * i] = static_cast<float>(std::sin(angle_of(i)));
      out[2 * i + 1] = static_cast<float>(std::cos(angle_of(i)));
    }
    return;
  }
  const std::size_t sines = frequencies_.size();
  for (std::size_t i = 0; i < sines; ++i) out[i] = static_cast<float>(std::sin(angle_of(i)));
  for (std::size_t i = 0; i < dim - sines; ++i) {
    out[sines + i] = i < sines ? static_cast<float>(std::cos(angle_of(i))) : 0.0f;
  }
}

absl::StatusOr<Table> SinusoidalTable(std::int64_t rows, std::int64_t dim, const SinusoidalFormula& formula) {
  if (absl::Status status = Check(rows, dim, formula); !status.ok()) return status;
  const auto bytes = TableBytes(rows, dim, ElementType::kFloat32);
  if (!bytes.ok()) return bytes.status();
  auto storage = AlignedBuffer::Allocate(*bytes);  // before the formula's own memory, which is as wide as a row
  if (!storage.ok()) return storage.status();
  const auto formula_rows = SinusoidalRows::Create(rows, dim, formula);
  if (!formula_rows.ok()) return formula_rows.status();
  float* const out = reinterpret_cast<float*>(storage->data());
  for (std::int64_t row = 0; row < rows; ++row) formula_rows->Compute(row, out + row * dim);
  return Table::Create(rows, dim, ElementType::kFloat32, *std::move(storage));
}

}  // namespace embd::core
