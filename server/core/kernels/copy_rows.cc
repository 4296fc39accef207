// Hot path: no lock, no allocation, no log.
#include "server/core/kernels/copy_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/core/kernels/copy_rows.cc"
#include "hwy/foreach_target.h"
// After foreach_target, which includes this file once for each target.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace embd::core {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::size_t kRowsAhead = 4;  // as compose-inl.h has it

// Whole lines past the caches; what lies before the first one and behind the last one goes through them. `later` is a
// row that will be copied.
HWY_INLINE void StreamRow(const std::byte* row, const std::byte* later, std::size_t bytes, std::byte* out) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t line = std::max(lanes, kCacheLine);
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(out) % line;
  std::size_t i = beyond == 0 ? 0 : std::min(bytes, line - beyond);
  std::memcpy(out, row, i);
  for (; i + line <= bytes; i += line) {
    __builtin_prefetch(later + i, 0, 2);
    for (std::size_t j = i; j < i + line; j += lanes) {
      const auto vector = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(row + j));
      hn::Stream(vector, d, reinterpret_cast<std::uint8_t*>(out + j));
    }
  }
  std::memcpy(out + i, row + i, bytes - i);
}

void StreamRows(const Term& rows, std::size_t row_count, std::size_t bytes, std::byte* out,
                std::byte* const* out_rows) {
  for (std::size_t r = 0; r < row_count; ++r) {
    StreamRow(rows.rows[r], rows.rows[std::min(r + kRowsAhead, row_count - 1)], bytes,
              out_rows != nullptr ? out_rows[r] : out + r * bytes);
  }
  hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace embd::core
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace embd::core {

HWY_EXPORT(StreamRows);

void CopyRows(const ComposeArguments& a) {
  const std::size_t row_bytes = a.dim * ElementSize(a.output_type);
  if (a.stores == Stores::kStreaming) {
    return HWY_DYNAMIC_DISPATCH(StreamRows)(a.first, a.row_count, row_bytes, a.out, a.out_rows);
  }
  for (std::size_t r = 0; r < a.row_count; ++r) {
    std::memcpy(a.out_rows != nullptr ? a.out_rows[r] : a.out + r * row_bytes, a.first.rows[r], row_bytes);
  }
}

}  // namespace embd::core
#endif
