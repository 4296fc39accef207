#include "server/service/sinusoidal_formula.h"

#include "absl/strings/str_cat.h"
#include "server/core/diagnostics/shift_property.h"
#include "server/core/error.h"

namespace embd::service {

absl::StatusOr<core::SinusoidalFormula> ToFormula(const v1::SinusoidalFormula& given) {
  constexpr std::int64_t kMaxDim = 65536;
  const std::int64_t dim = given.embedding_dim();
  if (dim < 2 || dim > kMaxDim || dim % 2 != 0) {
    return core::InvalidArgument(
        "INVALID_OPTION", absl::StrCat("sinusoidal.embedding_dim must be even and from 2 to ", kMaxDim, ", got ", dim));
  }
  core::SinusoidalFormula formula;
  if (given.has_base()) formula.base = given.base();
  if (given.tensor2tensor()) formula.layout = core::SinusoidalLayout::kTensor2Tensor;
  // The width and the base of a model are checked in the same way, but as those of a table.
  const auto rows = core::SinusoidalRows::Create(core::kMaxShiftPositions, dim, formula);
  if (!rows.ok()) {
    return core::InvalidArgument("INVALID_OPTION", absl::StrCat("sinusoidal: ", rows.status().message()));
  }
  return formula;
}

}  // namespace embd::service
