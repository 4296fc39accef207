#ifndef EMBD_SERVER_CORE_DIAGNOSTICS_SHIFT_PROPERTY_H_
#define EMBD_SERVER_CORE_DIAGNOSTICS_SHIFT_PROPERTY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "server/core/position/sinusoidal_frequencies.h"
#include "server/core/tensor/element_type.h"

// Whether one linear map takes every row of a position encoding to the row k further on.
namespace embd::core {

/// The most positions that are looked at.
inline constexpr std::int64_t kMaxShiftPositions = 65536;

/// The most elements, (rows - offset) * dim, of which `BestMapResidual` finds the best map.
inline constexpr std::int64_t kMaxFittedElements = std::int64_t{1} << 24;

/// Positions 0 … rows - 1, each of the first rows - offset compared with the one `offset` further on.
struct ShiftWindow {
  std::int64_t rows = 0;
  std::int64_t offset = 0;
};

/// Checks what a request asks for, where 0 stands for `default_rows` positions and for offset 1. There are
/// `available` positions.
///
/// Errors:
///   INVALID_ARGUMENT  [INVALID_OPTION] max_context_length or offset is outside its range; with its value and the
///   range.
[[nodiscard]] absl::StatusOr<ShiftWindow> ResolveShift(std::int64_t max_context_length, std::int64_t offset,
                                                       std::int64_t default_rows, std::int64_t available);

/// By how much mapped rows miss the rows that they should be.
struct ShiftResidual {
  double max = 0;                   ///< the largest |component|; NaN where a row has a NaN or an infinity
  double rms = 0;                   ///< the root of the mean square of all components
  std::int64_t worst_position = 0;  ///< p of the largest, the first of several as they are met
  std::int64_t worst_column = 0;
};

/// The residual of the map that turns each band by offset * frequency: exactly what a shift does to sines and cosines,
/// so that it is what rounding rows to float32 leaves, below 1e-6. Columns of no band are left out. `read` writes row
/// p, of `dim` elements. `stop`, unless empty, is asked now and then. Cost: two reads a row.
///
/// Errors: CANCELLED `stop` said true.
[[nodiscard]] absl::StatusOr<ShiftResidual> RotationResidual(
    const std::vector<SinusoidalBand>& bands, std::int64_t dim, const ShiftWindow& window,
    absl::FunctionRef<void(std::int64_t position, std::span<double> out)> read,
    const std::function<bool()>& stop = nullptr);

/// Rows as a table stores them.
struct StoredRows {
  std::function<const std::byte*(std::int64_t position)> row;
  ElementType type = ElementType::kFloat32;
  std::int64_t dim = 0;
};

/// The residual of the map that is best by least squares, as exact as double is, also of rows that depend on each
/// other. Where rows - offset <= dim and the rows are independent a map always fits, and the residual is 0: ask
/// for more rows to learn something. Squares of elements beyond 1e154 overflow, and the residual is NaN.
/// `stop`, unless empty, is asked now and then. Cost: up to 7 · (rows - offset) · dim · min(rows - offset, dim)
/// multiply-adds, about 2 a nanosecond; memory 8 bytes an element.
///
/// Errors:
///   INVALID_ARGUMENT  [INVALID_OPTION] more than kMaxFittedElements.
///   CANCELLED         `stop` said true.
[[nodiscard]] absl::StatusOr<ShiftResidual> BestMapResidual(const StoredRows& rows, const ShiftWindow& window,
                                                            const std::function<bool()>& stop = nullptr);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_DIAGNOSTICS_SHIFT_PROPERTY_H_
