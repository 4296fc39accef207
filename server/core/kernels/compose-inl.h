// The loops of Compose, included once for each SIMD target by compose_to_*.cc. Hot path: no lock, no allocation, no
// log.

#if defined(EMBD_SERVER_CORE_KERNELS_COMPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EMBD_SERVER_CORE_KERNELS_COMPOSE_INL_H_
#undef EMBD_SERVER_CORE_KERNELS_COMPOSE_INL_H_
#else
#define EMBD_SERVER_CORE_KERNELS_COMPOSE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "server/core/kernels/compose.h"
#include "server/core/kernels/element_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace embd::core {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::size_t kCacheLine = 64;
// How many rows ahead a row of the first term, which lies anywhere in its table, is called for: into the second-level
// cache, and later into the first-level one. Found by measuring.
inline constexpr std::size_t kRowsToFirstLevel = 1;
inline constexpr std::size_t kRowsToSecondLevel = 4;
// Of a row ahead, where wide output goes through the caches: more would get in the way of the output's lines.
inline constexpr std::size_t kBytesAhead = 1024;

template <class Row>
HWY_INLINE const typename Row::Stored* RowAt(const Term& term, std::size_t r) {
  return term.rows == nullptr ? nullptr : reinterpret_cast<const typename Row::Stored*>(term.rows[r]);
}

// One row's addresses; `soon` and `later` are rows of the first term that come after it.
template <class First, class Second, class Third, class Out>
struct RowPointers {
  const typename First::Stored* first;
  const typename Second::Stored* second;
  const typename Third::Stored* third;
  const typename First::Stored* soon;
  const typename First::Stored* later;
  typename Out::Stored* out;
};

// The lanes from element i on. A factor of 1 changes nothing, so that all rows are multiplied.
template <bool kStreams, class First, class Second, class Third, class Out, class DF>
HWY_INLINE void ComposeLanes(DF df, const RowPointers<First, Second, Third, Out>& row, hn::Vec<DF> factor,
                             std::size_t i) {
  auto sum = hn::Mul(First::Load(df, row.first + i), factor);
  if constexpr (Second::kIsRow) sum = hn::Add(sum, Second::Load(df, row.second + i));
  if constexpr (Third::kIsRow) sum = hn::Add(sum, Third::Load(df, row.third + i));
  Out::template Store<kStreams>(df, sum, row.out + i);
}

template <class First, class Second, class Third, class Out>
HWY_INLINE void ComposeOneByOne(const RowPointers<First, Second, Third, Out>& row, float scale, std::size_t dim) {
  for (std::size_t i = 0; i < dim; ++i) {
    float sum = First::LoadOne(row.first + i) * scale;
    if constexpr (Second::kIsRow) sum += Second::LoadOne(row.second + i);
    if constexpr (Third::kIsRow) sum += Third::LoadOne(row.third + i);
    Out::StoreOne(sum, row.out + i);
  }
}

// One row: whole vectors, then the last vector once more at the end, overlapping. Where vectors are stored past the
// caches, the same is done at the beginning of a row that is not aligned. Rows shorter than a vector go one by one.
template <bool kStreams, class First, class Second, class Third, class Out>
HWY_INLINE void ComposeRow(const RowPointers<First, Second, Third, Out>& row, float scale, std::size_t dim) {
  // With float64 the vector has as many lanes as there are doubles in one.
  using Tag = std::conditional_t<First::kIsDouble || Second::kIsDouble, hn::Rebind<float, hn::ScalableTag<double>>,
                                 hn::ScalableTag<float>>;
  const Tag df;
  const std::size_t lanes = hn::Lanes(df);
  if (dim < lanes) return ComposeOneByOne(row, scale, dim);
  const auto factor = hn::Set(df, scale);
  std::size_t i = 0;
  if constexpr (kStreams) {
    const std::size_t vector_bytes = lanes * sizeof(typename Out::Stored);
    if (const std::size_t beyond = reinterpret_cast<std::uintptr_t>(row.out) % vector_bytes; beyond != 0) {
      ComposeLanes<false>(df, row, factor, 0);
      i = (vector_bytes - beyond) / sizeof(typename Out::Stored);
    }
  }
  // As many elements at a time as there are in a line of the first term.
  constexpr std::size_t kLine = kCacheLine / sizeof(typename First::Stored);
  constexpr std::size_t kAhead =
      kStreams || sizeof(typename Out::Stored) < 4 ? SIZE_MAX : kBytesAhead / sizeof(typename First::Stored);
  const std::size_t step = std::max(lanes, kLine);
  for (; i + step <= dim; i += step) {
    __builtin_prefetch(row.later + i, 0, 2);
    if (i < kAhead) __builtin_prefetch(row.soon + i, 0, 3);
    for (std::size_t j = 0; j < step; j += lanes) ComposeLanes<kStreams>(df, row, factor, i + j);
  }
  for (; i + lanes <= dim; i += lanes) ComposeLanes<kStreams>(df, row, factor, i);
  if (i < dim) ComposeLanes<false>(df, row, factor, dim - lanes);
}

template <bool kStreams, class First, class Second, class Third, class Out>
void ComposeRows(const ComposeArguments& a) {
  const std::size_t last = a.row_count - 1;
  for (std::size_t r = 0; r < a.row_count; ++r) {
    std::byte* const out = a.out_rows != nullptr ? a.out_rows[r] : a.out + r * a.dim * sizeof(typename Out::Stored);
    const RowPointers<First, Second, Third, Out> row = {RowAt<First>(a.first, r),
                                                        RowAt<Second>(a.second, r),
                                                        RowAt<Third>(a.third, r),
                                                        RowAt<First>(a.first, std::min(r + kRowsToFirstLevel, last)),
                                                        RowAt<First>(a.first, std::min(r + kRowsToSecondLevel, last)),
                                                        reinterpret_cast<typename Out::Stored*>(out)};
    ComposeRow<kStreams>(row, a.scale, a.dim);
  }
  if constexpr (kStreams) hwy::FlushStream();
}

template <class First, class Second, class Third, class Out>
void ComposeWithStores(const ComposeArguments& a) {
  if (a.stores == Stores::kStreaming) return ComposeRows<true, First, Second, Third, Out>(a);
  ComposeRows<false, First, Second, Third, Out>(a);
}

template <class First, class Out>
void ComposeWithSecond(const ComposeArguments& a) {
  if (a.second.rows == nullptr) return ComposeWithStores<First, NoRow, NoRow, Out>(a);
  if (a.third.rows != nullptr) return ComposeWithStores<First, First, First, Out>(a);
  switch (a.second.type) {
    case ElementType::kFloat32: return ComposeWithStores<First, Float32Row, NoRow, Out>(a);
    case ElementType::kFloat16: return ComposeWithStores<First, Float16Row, NoRow, Out>(a);
    case ElementType::kBFloat16: return ComposeWithStores<First, BFloat16Row, NoRow, Out>(a);
    case ElementType::kFloat64: return ComposeWithStores<First, Float64Row, NoRow, Out>(a);
  }
}

// At most three terms, all of one type where they are three, without LayerNorm, for one output type.
template <class Out>
void ComposeTo(const ComposeArguments& a) {
  switch (a.first.type) {
    case ElementType::kFloat32: return ComposeWithSecond<Float32Row, Out>(a);
    case ElementType::kFloat16: return ComposeWithSecond<Float16Row, Out>(a);
    case ElementType::kBFloat16: return ComposeWithSecond<BFloat16Row, Out>(a);
    case ElementType::kFloat64: return ComposeWithSecond<Float64Row, Out>(a);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace embd::core
HWY_AFTER_NAMESPACE();

#endif  // EMBD_SERVER_CORE_KERNELS_COMPOSE_INL_H_
