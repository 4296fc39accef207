// Hot path: no lock, no allocation, no log.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/core/kernels/pool.cc"
#include "hwy/foreach_target.h"
// After foreach_target, which includes this file once for each target.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "server/core/kernels/element_lanes-inl.h"
#include "server/core/kernels/pool.h"

HWY_BEFORE_NAMESPACE();
namespace embd::core {
namespace HWY_NAMESPACE {

// How many ids ahead a row, which lies anywhere in its table, is called for, and how much of it; what is behind that
// the hardware sees coming.
constexpr std::size_t kRowsAhead = 16;
constexpr std::size_t kBytesAhead = 512;
constexpr std::size_t kPoolCacheLine = 64;

// One bag: its ids, and those behind them that may be looked at.
struct BagIds {
  const std::int64_t* ids;
  const float* weights;  // null: all 1
  std::size_t count;
  std::size_t count_ahead;  // of the bag and all that follow
};

// The row that an id names; null where it counts for nothing.
template <class Row>
HWY_INLINE const std::byte* RowOf(const PooledRows& rows, std::int64_t id) {
  if (static_cast<std::uint64_t>(id) >= rows.row_count) return rows.stand_in;
  if (id == rows.padding_idx) return nullptr;
  return rows.table + static_cast<std::size_t>(id) * rows.dim * sizeof(typename Row::Stored);
}

template <class Row>
HWY_INLINE void CallFor(const PooledRows& rows, const BagIds& bag, std::size_t i) {
  if (i + kRowsAhead >= bag.count_ahead) return;
  const std::byte* const row = RowOf<Row>(rows, bag.ids[i + kRowsAhead]);
  if (row == nullptr) return;
  const std::size_t bytes = std::min(rows.dim * sizeof(typename Row::Stored), kBytesAhead);
  for (std::size_t at = 0; at < bytes; at += kPoolCacheLine) __builtin_prefetch(row + at, 0, 3);
}

// What a bag's sum is divided by; 0 where its vector is zero.
template <class Row>
float DivisorOf(const PoolArguments& a, const BagIds& bag) {
  const bool adds = a.mode == BagMode::kMean || a.mode == BagMode::kSqrtN;
  if (!adds && a.rows.padding_idx < 0) return bag.count == 0 ? 0.0f : 1.0f;
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < bag.count; ++i) {
    if (RowOf<Row>(a.rows, bag.ids[i]) == nullptr) continue;
    ++count;
    const double weight = bag.weights == nullptr ? 1.0 : double{bag.weights[i]};
    sum += a.mode == BagMode::kSqrtN ? weight * weight : weight;
  }
  if (!adds || count == 0) return count == 0 ? 0.0f : 1.0f;
  return static_cast<float>(a.mode == BagMode::kSqrtN ? std::sqrt(sum) : sum);
}

template <bool kMax, class DF>
HWY_INLINE hn::Vec<DF> Join(DF, hn::Vec<DF> sum, hn::Vec<DF> value) {
  if constexpr (!kMax) return hn::Add(sum, value);
  if constexpr (kMax) return hn::IfThenElse(hn::Or(hn::Gt(value, sum), hn::IsNaN(value)), value, sum);
}

template <class Out, class DF>
HWY_INLINE void Finish(DF df, const PoolArguments& a, float divisor, hn::Vec<DF> value, typename Out::Stored* out) {
  if (divisor != 1.0f) value = hn::Div(value, hn::Set(df, divisor));
  if (a.saturate) {  // infinities and NaNs stay
    const auto largest = hn::Set(df, LargestFinite(a.output_type));
    const auto magnitude = hn::Abs(value);
    const auto beyond =
        hn::And(hn::Gt(magnitude, largest), hn::Le(magnitude, hn::Set(df, std::numeric_limits<float>::max())));
    value = hn::IfThenElse(beyond, hn::CopySign(largest, value), value);
  }
  Out::template Store<false>(df, value, out);
}

// kVectors vectors of components from `first` on, which stay in registers over all ids.
template <class Row, class Out, bool kMax, std::size_t kVectors, bool kCallsAhead, class DF>
void PoolColumns(DF df, const PoolArguments& a, const BagIds& bag, float divisor, std::size_t first,
                 typename Out::Stored* out) {
  const std::size_t lanes = hn::Lanes(df);
  const auto scale = hn::Set(df, a.rows.scale);
  const auto start = hn::Set(df, kMax ? -std::numeric_limits<float>::infinity() : 0.0f);
  auto sum0 = start, sum1 = start, sum2 = start, sum3 = start;
  for (std::size_t i = 0; i < bag.count; ++i) {
    if constexpr (kCallsAhead) CallFor<Row>(a.rows, bag, i);
    const std::byte* const bytes = RowOf<Row>(a.rows, bag.ids[i]);
    if (bytes == nullptr) continue;
    const auto* const row = reinterpret_cast<const typename Row::Stored*>(bytes) + first;
    const auto weight = hn::Set(df, bag.weights == nullptr ? 1.0f : bag.weights[i]);
    const auto value = [&](std::size_t at)
                           HWY_ATTR { return hn::Mul(hn::Mul(Row::Load(df, row + at), scale), weight); };
    sum0 = Join<kMax>(df, sum0, value(0));
    if constexpr (kVectors > 1) sum1 = Join<kMax>(df, sum1, value(lanes));
    if constexpr (kVectors > 2) sum2 = Join<kMax>(df, sum2, value(2 * lanes));
    if constexpr (kVectors > 2) sum3 = Join<kMax>(df, sum3, value(3 * lanes));
  }
  Finish<Out>(df, a, divisor, sum0, out + first);
  if constexpr (kVectors > 1) Finish<Out>(df, a, divisor, sum1, out + first + lanes);
  if constexpr (kVectors > 2) Finish<Out>(df, a, divisor, sum2, out + first + 2 * lanes);
  if constexpr (kVectors > 2) Finish<Out>(df, a, divisor, sum3, out + first + 3 * lanes);
}

// Rows shorter than a vector.
template <class Row, class Out, bool kMax>
void PoolOneByOne(const PoolArguments& a, const BagIds& bag, float divisor, typename Out::Stored* out) {
  for (std::size_t d = 0; d < a.rows.dim; ++d) {
    float sum = kMax ? -std::numeric_limits<float>::infinity() : 0.0f;
    for (std::size_t i = 0; i < bag.count; ++i) {
      const std::byte* const row = RowOf<Row>(a.rows, bag.ids[i]);
      if (row == nullptr) continue;
      float value = Row::LoadOne(reinterpret_cast<const typename Row::Stored*>(row) + d) * a.rows.scale;
      value *= bag.weights == nullptr ? 1.0f : bag.weights[i];
      if constexpr (!kMax) sum += value;
      if constexpr (kMax) sum = value > sum || std::isnan(value) ? value : sum;
    }
    sum /= divisor;
    const float largest = LargestFinite(a.output_type);
    const float magnitude = std::fabs(sum);
    const bool beyond = a.saturate && magnitude > largest && magnitude <= std::numeric_limits<float>::max();
    Out::StoreOne(beyond ? std::copysign(largest, sum) : sum, out + d);
  }
}

template <class Row, class Out, bool kMax>
void PoolBag(const PoolArguments& a, const BagIds& bag, float divisor, typename Out::Stored* out) {
  // With float64 the vector has as many lanes as there are doubles in one.
  using WideTag = hn::ScalableTag<double>;
  using Tag = std::conditional_t<Row::kIsDouble, hn::Rebind<float, WideTag>, hn::ScalableTag<float>>;
  const Tag df;
  const std::size_t lanes = hn::Lanes(df);
  const std::size_t dim = a.rows.dim;
  if (dim < lanes) return PoolOneByOne<Row, Out, kMax>(a, bag, divisor, out);
  std::size_t d = lanes;
  if (dim >= 4 * lanes) {
    PoolColumns<Row, Out, kMax, 4, true>(df, a, bag, divisor, 0, out);
    for (d = 4 * lanes; d + 4 * lanes <= dim; d += 4 * lanes) {
      PoolColumns<Row, Out, kMax, 4, false>(df, a, bag, divisor, d, out);
    }
  } else if (dim >= 2 * lanes) {
    PoolColumns<Row, Out, kMax, 2, true>(df, a, bag, divisor, 0, out);
    d = 2 * lanes;
  } else {
    PoolColumns<Row, Out, kMax, 1, true>(df, a, bag, divisor, 0, out);
  }
  for (; d + lanes <= dim; d += lanes) PoolColumns<Row, Out, kMax, 1, false>(df, a, bag, divisor, d, out);
  // The last vector once more, overlapping.
  if (d < dim) PoolColumns<Row, Out, kMax, 1, false>(df, a, bag, divisor, dim - lanes, out);
}

template <class Row, class Out, bool kMax>
void PoolBagsOf(const PoolArguments& a) {
  BagIds bag = {a.ids, a.weights, 0, 0};
  for (const std::int64_t length : a.row_lengths) bag.count_ahead += static_cast<std::size_t>(length);
  std::byte* out = a.out;
  for (const std::int64_t length : a.row_lengths) {
    bag.count = static_cast<std::size_t>(length);
    const float divisor = DivisorOf<Row>(a, bag);
    if (divisor == 0) {
      std::memset(out, 0, a.rows.dim * sizeof(typename Out::Stored));
    } else {
      PoolBag<Row, Out, kMax>(a, bag, divisor, reinterpret_cast<typename Out::Stored*>(out));
    }
    out += a.out_step;
    bag.ids += bag.count;
    if (bag.weights != nullptr) bag.weights += bag.count;
    bag.count_ahead -= bag.count;
  }
}

template <class Row, class Out>
void PoolTo(const PoolArguments& a) {
  if (a.mode == BagMode::kMax) return PoolBagsOf<Row, Out, true>(a);
  PoolBagsOf<Row, Out, false>(a);
}

template <class Row>
void PoolFrom(const PoolArguments& a) {
  switch (a.output_type) {
    case ElementType::kFloat16: return PoolTo<Row, Float16Out>(a);
    case ElementType::kBFloat16: return PoolTo<Row, BFloat16Out>(a);
    case ElementType::kFloat32:
    case ElementType::kFloat64: return PoolTo<Row, Float32Out>(a);  // float64 is no output type
  }
}

void PoolBags(const PoolArguments& a) {
  switch (a.rows.type) {
    case ElementType::kFloat32: return PoolFrom<Float32Row>(a);
    case ElementType::kFloat16: return PoolFrom<Float16Row>(a);
    case ElementType::kBFloat16: return PoolFrom<BFloat16Row>(a);
    case ElementType::kFloat64: return PoolFrom<Float64Row>(a);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace embd::core
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace embd::core {

HWY_EXPORT(PoolBags);

void Pool(const PoolArguments& arguments) { HWY_DYNAMIC_DISPATCH(PoolBags)(arguments); }

}  // namespace embd::core
#endif
