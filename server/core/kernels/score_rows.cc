// Hot path: no lock, no allocation, no log.
#include "server/core/kernels/score_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/core/kernels/score_rows.cc"
#include "hwy/foreach_target.h"
// After foreach_target, which includes this file once for each target.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

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
  Lanes lanes = ZeroLanes();
  std::copy_n(from, kLanes, lanes.value.begin());
  return lanes;
}

HWY_INLINE Lanes LoadFirst(const float* from, std::size_t count) {
  Lanes lanes = ZeroLanes();
  std::copy_n(from, count, lanes.value.begin());
  return lanes;
}

template <bool kFuses>
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

template <bool kFuses>
HWY_INLINE void AddProduct(const Lanes& a, const Lanes& b, Lanes& sums) {
  for (std::size_t v = 0; v < kVectors; ++v) {
    sums.parts[v] = kFuses ? hn::MulAdd(a.parts[v], b.parts[v], sums.parts[v])
                           : hn::Add(sums.parts[v], hn::Mul(a.parts[v], b.parts[v]));
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

// Of four vectors of blocks of four sums: in each block the totals of the four blocks there.
template <class D>
HWY_INLINE hn::Vec<D> TotalsOfFour(D d, hn::Vec<D> first, hn::Vec<D> second, hn::Vec<D> third, hn::Vec<D> fourth) {
  const hn::Repartition<std::uint64_t, D> pairs;
  const auto add_halves = [d, pairs](hn::Vec<D> x, hn::Vec<D> y) HWY_ATTR {
    const auto lower = hn::InterleaveLower(pairs, hn::BitCast(pairs, x), hn::BitCast(pairs, y));
    const auto upper = hn::InterleaveUpper(pairs, hn::BitCast(pairs, x), hn::BitCast(pairs, y));
    return hn::Add(hn::BitCast(d, lower), hn::BitCast(d, upper));
  };
  const auto x = add_halves(first, third);
  const auto y = add_halves(second, fourth);
  return add_halves(hn::InterleaveLower(d, x, y), hn::InterleaveUpper(d, x, y));
}

// The totals of four rows.
HWY_INLINE void StoreTotals(const std::array<Lanes, kRowsAtOnce>& sums, float* out) {
  hn::StoreU(TotalsOfFour(Quarter(), Fold(sums[0]), Fold(sums[1]), Fold(sums[2]), Fold(sums[3])), Quarter(), out);
}

#if HWY_TARGET <= HWY_AVX3

// Of four whole vectors of sums: a block of four each, in this order.
HWY_INLINE hn::Vec<Tag> FoldToBlocks(hn::Vec<Tag> first, hn::Vec<Tag> second, hn::Vec<Tag> third, hn::Vec<Tag> fourth) {
  const Tag d;
  const auto x = hn::Add(hn::ConcatLowerLower(d, third, first), hn::ConcatUpperUpper(d, third, first));
  const auto y = hn::Add(hn::ConcatLowerLower(d, fourth, second), hn::ConcatUpperUpper(d, fourth, second));
  return hn::Add(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(y), x), hn::OddEvenBlocks(y, hn::SwapAdjacentBlocks(x)));
}

#endif

#endif

// Where registers are few, one query at a time leaves all sums in them.
constexpr std::size_t kTogether = HWY_TARGET <= HWY_AVX3 ? kQueriesAtOnce : 1;

template <std::size_t kQueries>
using QuerySums = std::array<std::array<Lanes, kRowsAtOnce>, kQueries>;

// The totals of each query with four rows, query by query.
template <std::size_t kQueries>
HWY_INLINE void StoreQueryTotals(const QuerySums<kQueries>& sums, float* out) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (kQueries == kQueriesAtOnce) {
    const auto row = [&sums](std::size_t r) HWY_ATTR {
      return FoldToBlocks(sums[0][r].parts[0], sums[1][r].parts[0], sums[2][r].parts[0], sums[3][r].parts[0]);
    };
    hn::StoreU(TotalsOfFour(Tag(), row(0), row(1), row(2), row(3)), Tag(), out);
    return;
  }
#endif
  for (std::size_t q = 0; q < kQueries; ++q) StoreTotals(sums[q], out + q * kRowsAtOnce);
}

// Four rows against kQueries queries, and against themselves where kSquares. Of fewer rows the last one stands in.
template <std::size_t kQueries, bool kSquares, bool kFuses>
HWY_INLINE void DotTile(const DotArguments& a, std::size_t first_row, std::size_t first_query) {
  const std::size_t count = std::min(kRowsAtOnce, a.row_count - first_row);
  std::array<const float*, kRowsAtOnce> rows = {};
  for (std::size_t r = 0; r < kRowsAtOnce; ++r) rows[r] = a.rows + (first_row + std::min(r, count - 1)) * a.dim;
  const float* const queries = a.queries + first_query * a.dim;
  QuerySums<kQueries> dots;
  std::array<Lanes, kRowsAtOnce> squares;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  for (std::size_t r = 0; r < kRowsAtOnce; ++r) {
    for (std::size_t q = 0; q < kQueries; ++q) dots[q][r] = ZeroLanes();
    squares[r] = ZeroLanes();
  }
  const auto add = [&](std::size_t i, const auto& load) HWY_ATTR {
    std::array<Lanes, kRowsAtOnce> row;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
    for (std::size_t r = 0; r < kRowsAtOnce; ++r) {
      row[r] = load(rows[r] + i);
      if constexpr (kSquares) AddProduct<kFuses>(row[r], row[r], squares[r]);
    }
    for (std::size_t q = 0; q < kQueries; ++q) {
      const Lanes query = load(queries + q * a.dim + i);
      for (std::size_t r = 0; r < kRowsAtOnce; ++r) AddProduct<kFuses>(row[r], query, dots[q][r]);
    }
  };
  // One loop for whole lanes and the rest, so that the sums stay in registers all the way.
  for (std::size_t i = 0; i < a.dim; i += kLanes) {
    const std::size_t left = a.dim - i;
    if (left >= kLanes) {
      add(i, [](const float* from) HWY_ATTR { return LoadLanes(from); });
    } else {
      add(i, [left](const float* from) HWY_ATTR { return LoadFirst(from, left); });
    }
  }
  std::array<float, kQueries* kRowsAtOnce> totals = {};
  StoreQueryTotals<kQueries>(dots, totals.data());
  const auto put = [count](const float* from, float* to) HWY_ATTR {
    if (count == kRowsAtOnce) {  // a copy whose size the compiler knows
      std::copy_n(from, kRowsAtOnce, to);
    } else {
      std::copy_n(from, count, to);
    }
  };
  for (std::size_t q = 0; q < kQueries; ++q) {
    put(&totals[q * kRowsAtOnce], a.dots + (first_query + q) * a.row_count + first_row);
  }
  if constexpr (kSquares) {
    StoreTotals(squares, totals.data());
    put(totals.data(), a.squares + first_row);
  }
}

template <std::size_t kQueries, bool kFuses>
void DotBlock(const DotArguments& a, std::size_t first_query) {
  const bool squares = a.squares != nullptr && first_query == 0;
  for (std::size_t row = 0; row < a.row_count; row += kRowsAtOnce) {
    if (squares) {
      DotTile<kQueries, true, kFuses>(a, row, first_query);
    } else {
      DotTile<kQueries, false, kFuses>(a, row, first_query);
    }
  }
}

template <bool kFuses>
void DotAll(const DotArguments& a) {
  std::size_t query = 0;
  for (; query + kTogether <= a.query_count; query += kTogether) DotBlock<kTogether, kFuses>(a, query);
  for (; query < a.query_count; ++query) DotBlock<1, kFuses>(a, query);
}

void DotEach(const DotArguments& a) { return a.may_fuse ? DotAll<true>(a) : DotAll<false>(a); }

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
