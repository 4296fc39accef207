// Hot path: no lock, no allocation, no log.
#include "server/core/kernels/score_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/core/kernels/score_rows.cc"
#include "hwy/foreach_target.h"
// After foreach_target, which includes this file once for each target.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hwy/highway.h"

// Vectors whose size is known only at run time cannot stand in an array, and without any a plain loop is as good.
#undef EMBD_PLAIN_LANES
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_HAVE_SCALABLE
#define EMBD_PLAIN_LANES 1
#else
#define EMBD_PLAIN_LANES 0
#endif

HWY_BEFORE_NAMESPACE();
namespace embd::core {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kLanes = 16;  // the sums of one dot product
constexpr std::size_t kRowsAtOnce = 4;

#if EMBD_PLAIN_LANES

struct Lanes {
  std::array<float, kLanes> value;
};

HWY_INLINE Lanes ZeroLanes() { return {}; }

HWY_INLINE Lanes LoadLanes(const float* from) {
  Lanes lanes;
  std::copy_n(from, kLanes, lanes.value.begin());
  return lanes;
}

HWY_INLINE Lanes LoadFirst(const float* from, std::size_t count) {
  Lanes lanes = ZeroLanes();
  std::copy_n(from, count, lanes.value.begin());
  return lanes;
}

HWY_INLINE void AddProduct(const Lanes& a, const Lanes& b, Lanes& sums) {
  for (std::size_t i = 0; i < kLanes; ++i) sums.value[i] += a.value[i] * b.value[i];
}

HWY_INLINE void StoreTotals(const std::array<Lanes, kRowsAtOnce>& sums, float* out) {
  for (std::size_t r = 0; r < kRowsAtOnce; ++r) {
    std::array<float, kLanes> lanes = sums[r].value;
    for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
      for (std::size_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
    }
    out[r] = lanes[0];
  }
}

#else

using Tag = hn::CappedTag<float, kLanes>;
using Quarter = hn::Full128<float>;
constexpr std::size_t kVectorLanes = hn::MaxLanes(Tag());
constexpr std::size_t kVectors = kLanes / kVectorLanes;

struct Lanes {
  std::array<hn::Vec<Tag>, kVectors> parts;
};

HWY_INLINE Lanes ZeroLanes() {
  Lanes lanes;
  for (std::size_t v = 0; v < kVectors; ++v) lanes.parts[v] = hn::Zero(Tag());
  return lanes;
}

HWY_INLINE Lanes LoadLanes(const float* from) {
  Lanes lanes;
  for (std::size_t v = 0; v < kVectors; ++v) lanes.parts[v] = hn::LoadU(Tag(), from + v * kVectorLanes);
  return lanes;
}

// The first `count` lanes, zeros after them; nothing past them is touched.
HWY_INLINE Lanes LoadFirst(const float* from, std::size_t count) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  Lanes lanes;
  for (std::size_t v = 0; v < kVectors; ++v) {
    const std::size_t left = count > v * kVectorLanes ? count - v * kVectorLanes : 0;
    lanes.parts[v] = hn::MaskedLoad(hn::FirstN(Tag(), left), Tag(), from + std::min(count, v * kVectorLanes));
  }
  return lanes;
#else
  std::array<float, kLanes> buffer = {};
  std::copy_n(from, count, buffer.begin());
  return LoadLanes(buffer.data());
#endif
}

HWY_INLINE void AddProduct(const Lanes& a, const Lanes& b, Lanes& sums) {
  for (std::size_t v = 0; v < kVectors; ++v) {
    sums.parts[v] = hn::Add(sums.parts[v], hn::Mul(a.parts[v], b.parts[v]));
  }
}

// Adds the upper half of the lanes to the lower one until four are left.
template <class D>
HWY_INLINE hn::Vec<Quarter> FoldVector(D /*d*/, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) == hn::MaxLanes(Quarter())) {
    return v;
  } else {
    const hn::Half<D> half;
    return FoldVector(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

HWY_INLINE hn::Vec<Quarter> Fold(Lanes sums) {
  for (std::size_t width = kVectors / 2; width > 0; width /= 2) {
    for (std::size_t v = 0; v < width; ++v) sums.parts[v] = hn::Add(sums.parts[v], sums.parts[v + width]);
  }
  return FoldVector(Tag(), sums.parts[0]);
}

HWY_INLINE void StoreTotals(const std::array<Lanes, kRowsAtOnce>& sums, float* out) {
  const Quarter d;
  const auto a = Fold(sums[0]);
  const auto b = Fold(sums[1]);
  const auto c = Fold(sums[2]);
  const auto e = Fold(sums[3]);
  // Two left of each: a0 + a2, a1 + a3, b0 + b2, b1 + b3.
  const auto ab = hn::Add(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a));
  const auto ce = hn::Add(hn::ConcatLowerLower(d, e, c), hn::ConcatUpperUpper(d, e, c));
  hn::StoreU(hn::Add(hn::ConcatEven(d, ce, ab), hn::ConcatOdd(d, ce, ab)), d, out);
}

#endif

// Four rows against kQueries queries, and against themselves where kSquares.
template <std::size_t kQueries, bool kSquares>
struct Tile {
  std::array<std::array<Lanes, kRowsAtOnce>, kQueries> dots;
  std::array<Lanes, kRowsAtOnce> squares;

  HWY_INLINE void Clear() {
    for (std::size_t r = 0; r < kRowsAtOnce; ++r) {
      for (std::size_t q = 0; q < kQueries; ++q) dots[q][r] = ZeroLanes();
      squares[r] = ZeroLanes();
    }
  }

  template <class Load>
  HWY_INLINE void Add(const std::array<const float*, kRowsAtOnce>& rows, const float* queries, std::size_t dim,
                      std::size_t i, const Load& load) {
    std::array<Lanes, kRowsAtOnce> row;
    for (std::size_t r = 0; r < kRowsAtOnce; ++r) row[r] = load(rows[r] + i);
    for (std::size_t q = 0; q < kQueries; ++q) {
      const Lanes query = load(queries + q * dim + i);
      for (std::size_t r = 0; r < kRowsAtOnce; ++r) AddProduct(row[r], query, dots[q][r]);
    }
    if constexpr (kSquares) {
      for (std::size_t r = 0; r < kRowsAtOnce; ++r) AddProduct(row[r], row[r], squares[r]);
    }
  }
};

template <std::size_t kQueries, bool kSquares>
HWY_INLINE void DotTile(const DotArguments& a, std::size_t first_row, std::size_t first_query) {
  const std::size_t count = std::min(kRowsAtOnce, a.row_count - first_row);
  std::array<const float*, kRowsAtOnce> rows;
  for (std::size_t r = 0; r < kRowsAtOnce; ++r) rows[r] = a.rows + (first_row + std::min(r, count - 1)) * a.dim;
  const float* const queries = a.queries + first_query * a.dim;
  Tile<kQueries, kSquares> tile;
  tile.Clear();
  std::size_t i = 0;
  for (; i + kLanes <= a.dim; i += kLanes) {
    tile.Add(rows, queries, a.dim, i, [](const float* from) HWY_ATTR { return LoadLanes(from); });
  }
  if (i < a.dim) {
    tile.Add(rows, queries, a.dim, i, [left = a.dim - i](const float* from) HWY_ATTR { return LoadFirst(from, left); });
  }
  const auto store = [count](const std::array<Lanes, kRowsAtOnce>& sums, float* out) HWY_ATTR {
    if (count == kRowsAtOnce) return StoreTotals(sums, out);
    std::array<float, kRowsAtOnce> totals;
    StoreTotals(sums, totals.data());
    std::copy_n(totals.begin(), count, out);
  };
  for (std::size_t q = 0; q < kQueries; ++q) store(tile.dots[q], a.dots + (first_query + q) * a.row_count + first_row);
  if constexpr (kSquares) store(tile.squares, a.squares + first_row);
}

template <std::size_t kQueries, bool kSquares>
void DotBlock(const DotArguments& a, std::size_t first_query) {
  for (std::size_t row = 0; row < a.row_count; row += kRowsAtOnce) DotTile<kQueries, kSquares>(a, row, first_query);
}

void DotEach(const DotArguments& a) {
  // Where registers are few, one query at a time leaves all sums in them.
  constexpr std::size_t kTogether = HWY_TARGET <= HWY_AVX3 ? kQueriesAtOnce : 1;
  std::size_t query = 0;
  if (a.squares != nullptr && a.query_count >= kTogether) {
    DotBlock<kTogether, true>(a, 0);
    query = kTogether;
  } else if (a.squares != nullptr) {
    DotBlock<1, true>(a, 0);
    query = 1;
  }
  for (; query + kTogether <= a.query_count; query += kTogether) DotBlock<kTogether, false>(a, query);
  for (; query < a.query_count; ++query) DotBlock<1, false>(a, query);
}

void InvertNorms(const float* squares, std::size_t count, float smallest, float* out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto least = hn::Set(d, smallest);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto norm = hn::Sqrt(hn::LoadU(d, squares + i));
    hn::StoreU(hn::Div(hn::Set(d, 1.0f), hn::IfThenElse(hn::Lt(norm, least), least, norm)), d, out + i);
  }
  for (; i < count; ++i) {
    const float norm = std::sqrt(squares[i]);
    out[i] = 1.0f / (norm < smallest ? smallest : norm);
  }
}

std::size_t ScaleThenCount(const float* factors, const float* terms, std::size_t count, float cut, float* values) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto least = hn::Set(d, cut);
  std::size_t less = 0;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::Add(hn::Mul(hn::LoadU(d, values + i), hn::LoadU(d, factors + i)), hn::LoadU(d, terms + i));
    hn::StoreU(value, d, values + i);
    less += hn::CountTrue(d, hn::Lt(value, least));
  }
  for (; i < count; ++i) {
    values[i] = values[i] * factors[i] + terms[i];
    less += values[i] < cut ? 1 : 0;
  }
  return count - less;
}

}  // namespace HWY_NAMESPACE
}  // namespace embd::core
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace embd::core {

HWY_EXPORT(DotEach);
HWY_EXPORT(InvertNorms);
HWY_EXPORT(ScaleThenCount);

void DotRows(const DotArguments& arguments) { HWY_DYNAMIC_DISPATCH(DotEach)(arguments); }

void InverseNorms(const float* squares, std::size_t count, float smallest, float* out) {
  HWY_DYNAMIC_DISPATCH(InvertNorms)(squares, count, smallest, out);
}

std::size_t ScaleAndCount(const float* factors, const float* terms, std::size_t count, float cut, float* values) {
  return HWY_DYNAMIC_DISPATCH(ScaleThenCount)(factors, terms, count, cut, values);
}

}  // namespace embd::core
#endif
