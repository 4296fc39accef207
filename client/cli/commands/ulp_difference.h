#ifndef EMBD_CLIENT_CLI_COMMANDS_ULP_DIFFERENCE_H_
#define EMBD_CLIENT_CLI_COMMANDS_ULP_DIFFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "client/cli/files/tensor.h"

namespace embd::cli {

/// How many representable values of float16, bfloat16 or float32 lie between elements `index` of two tensors of that
/// type, one of the two counted: neighbours are 1 apart, also across powers of two, at the subnormals, and from the
/// largest number to infinity. +0 and -0 are 0 apart, the smallest numbers on both sides of them 2. Two NaNs are 0
/// apart; nothing where one alone is NaN.
[[nodiscard]] std::optional<std::uint64_t> UlpDistance(TensorView a, TensorView b, std::size_t index);

/// What two tensors have in common.
struct UlpDifference {
  std::size_t cells = 0;
  /// Cells whose bits are the same, or that are NaN in both.
  std::size_t equal = 0;
  /// Cells that are NaN in one of the two.
  std::size_t one_nan = 0;
  /// Over the other cells.
  std::uint64_t largest = 0;
  /// The first cell that is not equal.
  std::optional<std::size_t> first = {};

  /// Whether no cell differs by more than that; +0 and -0 do not.
  [[nodiscard]] bool Within(std::uint64_t max_ulp) const { return one_nan == 0 && largest <= max_ulp; }
};

/// Compares two tensors of one size and one type, float16, bfloat16 or float32, cell by cell.
[[nodiscard]] UlpDifference CompareCells(TensorView a, TensorView b);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_ULP_DIFFERENCE_H_
