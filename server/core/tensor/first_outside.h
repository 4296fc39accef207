#ifndef EMBD_SERVER_CORE_TENSOR_FIRST_OUTSIDE_H_
#define EMBD_SERVER_CORE_TENSOR_FIRST_OUTSIDE_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace embd::core {

/// The index of the first value outside [0, end), or values.size() where there is none. Asks about all of them first,
/// without a branch, so that good values, which is nearly all, are checked with vector instructions.
[[nodiscard]] inline std::size_t FirstOutside(std::span<const std::int64_t> values, std::uint64_t end) {
  bool bad = false;
  for (const std::int64_t value : values) bad |= static_cast<std::uint64_t>(value) >= end;
  if (!bad) return values.size();
  std::size_t i = 0;
  while (static_cast<std::uint64_t>(values[i]) < end) ++i;
  return i;
}

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TENSOR_FIRST_OUTSIDE_H_
