#ifndef EMBD_SERVER_CORE_POSITION_SINUSOIDAL_H_
#define EMBD_SERVER_CORE_POSITION_SINUSOIDAL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/table/table.h"

namespace embd::core {

/// Where a row of width D has its sines and cosines, and their frequencies, for i = 0, 1, …
enum class SinusoidalLayout {
  /// Columns 2i and 2i + 1 are sin and cos of p · base^(-2i/D); D must be even. The paper's text, and the default.
  kInterleaved,
  /// The first ceil(D/2) columns are sines, the rest cosines, of p · base^(-2i/D). Marian, Pegasus.
  kHalf,
  /// floor(D/2) = h columns of sines, then h of cosines, of p · base^(-i/(h-1)); a last odd column is 0, and so is the
  /// padding's row. D must not be 2 or 3, where h - 1 is 0. tensor2tensor, fairseq, M2M100, XGLM.
  kTensor2Tensor,
};

/// "interleaved", "half", "tensor2tensor".
[[nodiscard]] absl::string_view SinusoidalLayoutName(SinusoidalLayout layout);

/// What a table of sinusoidal positions is computed from.
struct SinusoidalFormula {
  double base = 10000.0;
  SinusoidalLayout layout = SinusoidalLayout::kInterleaved;
  std::optional<std::int64_t> padding_row;  ///< all zeros, with kTensor2Tensor
};

/// Computes rows of sinusoidal positions: in double, rounded to float32 once, so that large positions lose nothing: a
/// float32 evaluation of the formula is off by up to p·2⁻²³. Columns of frequency 1 turn once in 2·pi rows.
///
/// Thread safety: never changes after `Create`.
class SinusoidalRows {
 public:
  /// Prepares rows of width `dim`, of which up to `max_rows` will be asked for.
  ///
  /// Errors, in this order:
  ///   INVALID_ARGUMENT  [INVALID_TABLE] `max_rows` (the model's max_context_length) is less than 1, `dim` is
  ///                     less than 1 or does not fit the layout, `base` is not finite, not > 0, or so small that an
  ///                     angle exceeds double.
  [[nodiscard]] static absl::StatusOr<SinusoidalRows> Create(std::int64_t max_rows, std::int64_t dim,
                                                             const SinusoidalFormula& formula);

  /// Writes row `position` to `out`, which has room for `dim` elements. Cost: a sine and a cosine in double a pair of
  /// columns, about 30 ns.
  void Compute(std::int64_t position, float* out) const;

  [[nodiscard]] std::int64_t dim() const { return dim_; }

 private:
  SinusoidalRows(std::int64_t dim, const SinusoidalFormula& formula, std::vector<double> frequencies)
      : dim_(dim), formula_(formula), frequencies_(std::move(frequencies)) {}

  std::int64_t dim_;
  SinusoidalFormula formula_;
  std::vector<double> frequencies_;
};

/// The float32 table (rows, dim) of sinusoidal positions 0 … rows - 1.
///
/// Errors: those of SinusoidalRows::Create, and
///   INVALID_ARGUMENT   [INVALID_TABLE] the size overflows.
///   RESOURCE_EXHAUSTED [OUT_OF_MEMORY] not enough memory.
[[nodiscard]] absl::StatusOr<Table> SinusoidalTable(std::int64_t rows, std::int64_t dim,
                                                    const SinusoidalFormula& formula = {});

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_POSITION_SINUSOIDAL_H_
