// Hot path: no lock, no allocation, no log.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/core/kernels/rotate.cc"
#include "hwy/foreach_target.h"
// After foreach_target, which includes this file once for each target.
#include <algorithm>
#include <array>
#include <cstring>

#include "server/core/kernels/element_lanes-inl.h"
#include "server/core/kernels/rotate.h"

HWY_BEFORE_NAMESPACE();
namespace embd::core {
namespace HWY_NAMESPACE {

// Vectors are turned block by block: widened to float32 on the stack, turned, narrowed. The block stays in L1, and one
// loop serves all types and pairings.
constexpr std::size_t kBlockPairs = 64;
using Block = std::array<float, kBlockPairs>;
using PairBlock = std::array<float, 2 * kBlockPairs>;

template <class Row>
void WidenFrom(const std::byte* row, std::size_t first, std::size_t count, float* out) {
  using WideTag = hn::ScalableTag<double>;
  using Tag = std::conditional_t<Row::kIsDouble, hn::Rebind<float, WideTag>, hn::ScalableTag<float>>;
  const Tag df;
  const std::size_t lanes = hn::Lanes(df);
  const auto* const in = reinterpret_cast<const typename Row::Stored*>(row) + first;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(Row::Load(df, in + i), df, out + i);
  for (; i < count; ++i) out[i] = Row::LoadOne(in + i);
}

// Components [first, first + count) of a vector as float32: where they stand, or in `buffer`.
const float* Widen(const std::byte* row, ElementType type, std::size_t first, std::size_t count, float* buffer) {
  switch (type) {
    case ElementType::kFloat32: return reinterpret_cast<const float*>(row) + first;
    case ElementType::kFloat16: WidenFrom<Float16Row>(row, first, count, buffer); break;
    case ElementType::kBFloat16: WidenFrom<BFloat16Row>(row, first, count, buffer); break;
    case ElementType::kFloat64: WidenFrom<Float64Row>(row, first, count, buffer); break;
  }
  return buffer;
}

template <class Out>
void NarrowTo(const float* values, std::size_t first, std::size_t count, std::byte* row) {
  const hn::ScalableTag<float> df;
  const std::size_t lanes = hn::Lanes(df);
  auto* const out = reinterpret_cast<typename Out::Stored*>(row) + first;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) Out::template Store<false>(df, hn::LoadU(df, values + i), out + i);
  for (; i < count; ++i) Out::StoreOne(values[i], out + i);
}

void Narrow(const float* values, ElementType type, std::size_t first, std::size_t count, std::byte* row) {
  switch (type) {
    case ElementType::kFloat16: return NarrowTo<Float16Out>(values, first, count, row);
    case ElementType::kBFloat16: return NarrowTo<BFloat16Out>(values, first, count, row);
    case ElementType::kFloat32:
    case ElementType::kFloat64: return NarrowTo<Float32Out>(values, first, count, row);  // float64 is no output type
  }
}

// (a, b) -> (a cos - b sin, b cos + a sin) for `count` pairs.
void Turn(const float* a, const float* b, const float* cos, const float* sin, std::size_t count, float* turned_a,
          float* turned_b) {
  const hn::ScalableTag<float> df;
  const std::size_t lanes = hn::Lanes(df);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto va = hn::LoadU(df, a + i);
    const auto vb = hn::LoadU(df, b + i);
    const auto vc = hn::LoadU(df, cos + i);
    const auto vs = hn::LoadU(df, sin + i);
    hn::StoreU(hn::Sub(hn::Mul(va, vc), hn::Mul(vb, vs)), df, turned_a + i);
    hn::StoreU(hn::Add(hn::Mul(vb, vc), hn::Mul(va, vs)), df, turned_b + i);
  }
  for (; i < count; ++i) {
    turned_a[i] = a[i] * cos[i] - b[i] * sin[i];
    turned_b[i] = b[i] * cos[i] + a[i] * sin[i];
  }
}

// The components of interleaved pairs apart, and together again.
void TakeApart(const float* pairs, std::size_t count, float* a, float* b) {
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = pairs[2 * i];
    b[i] = pairs[2 * i + 1];
  }
}

void PutTogether(const float* a, const float* b, std::size_t count, float* pairs) {
  for (std::size_t i = 0; i < count; ++i) {
    pairs[2 * i] = a[i];
    pairs[2 * i + 1] = b[i];
  }
}

// Pairs [first, first + count) of one vector.
void TurnBlock(const RotateArguments& r, const std::byte* in, const float* cos, const float* sin, std::size_t first,
               std::size_t count, std::byte* out) {
  const std::size_t half = r.paired_dim / 2;
  Block a, b, turned_a, turned_b;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  PairBlock pairs;                 // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  if (r.pairing == RotaryPairing::kHalf) {
    const float* const first_half = Widen(in, r.input_type, first, count, a.data());
    const float* const second_half = Widen(in, r.input_type, half + first, count, b.data());
    Turn(first_half, second_half, cos + first, sin + first, count, turned_a.data(), turned_b.data());
  } else {
    TakeApart(Widen(in, r.input_type, 2 * first, 2 * count, pairs.data()), count, a.data(), b.data());
    Turn(a.data(), b.data(), cos + first, sin + first, count, turned_a.data(), turned_b.data());
    if (r.layout == RotaryLayout::kSame) {
      PutTogether(turned_a.data(), turned_b.data(), count, pairs.data());
      return Narrow(pairs.data(), r.output_type, 2 * first, 2 * count, out);
    }
  }
  Narrow(turned_a.data(), r.output_type, first, count, out);
  Narrow(turned_b.data(), r.output_type, half + first, count, out);
}

// Components from paired_dim on.
void PassThrough(const RotateArguments& r, const std::byte* in, std::byte* out) {
  const std::size_t rest = r.head_dim - r.paired_dim;
  if (r.input_type == r.output_type) {
    const std::size_t size = ElementSize(r.input_type);
    std::memcpy(out + r.paired_dim * size, in + r.paired_dim * size, rest * size);
    return;
  }
  PairBlock buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  for (std::size_t first = r.paired_dim; first < r.head_dim; first += buffer.size()) {
    const std::size_t count = std::min(buffer.size(), r.head_dim - first);
    Narrow(Widen(in, r.input_type, first, count, buffer.data()), r.output_type, first, count, out);
  }
}

void RotateVectors(const RotateArguments& r) {
  const std::size_t half = r.paired_dim / 2;
  const std::size_t in_bytes = r.head_dim * ElementSize(r.input_type);
  const std::size_t out_bytes = r.head_dim * ElementSize(r.output_type);
  for (std::size_t v = 0; v < r.vector_count; ++v) {
    const std::byte* const in = r.in + v * in_bytes;
    std::byte* const out = r.out + v * out_bytes;
    for (std::size_t first = 0; first < half; first += kBlockPairs) {
      TurnBlock(r, in, r.cos + v * r.table_step, r.sin + v * r.table_step, first, std::min(kBlockPairs, half - first),
                out);
    }
    if (r.paired_dim < r.head_dim) PassThrough(r, in, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace embd::core
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace embd::core {

HWY_EXPORT(RotateVectors);

void Rotate(const RotateArguments& arguments) { HWY_DYNAMIC_DISPATCH(RotateVectors)(arguments); }

}  // namespace embd::core
#endif
