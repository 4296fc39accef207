// How vectors of each stored type are read as float32 lanes and written from them; included once for each SIMD target.
// Hot path: no lock, no allocation, no log.

#if defined(EMBD_SERVER_CORE_KERNELS_ELEMENT_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EMBD_SERVER_CORE_KERNELS_ELEMENT_LANES_INL_H_
#undef EMBD_SERVER_CORE_KERNELS_ELEMENT_LANES_INL_H_
#else
#define EMBD_SERVER_CORE_KERNELS_ELEMENT_LANES_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "server/core/tensor/float_bits.h"

HWY_BEFORE_NAMESPACE();
namespace embd::core {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Highway's own conversions to float16 are right only from AVX2 on (F16C); below, and for bfloat16 everywhere, they
// truncate.
#undef EMBD_HAVE_F16C
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define EMBD_HAVE_F16C 1
#else
#define EMBD_HAVE_F16C 0
#endif

// One stored type: how a vector of it becomes float32 lanes, and how one element does.

struct NoRow {
  static constexpr bool kIsRow = false;
  static constexpr bool kIsDouble = false;
  using Stored = float;
};

struct Float32Row {
  static constexpr bool kIsRow = true;
  static constexpr bool kIsDouble = false;
  using Stored = float;
  template <class DF>
  static HWY_INLINE hn::Vec<DF> Load(DF df, const Stored* row) {
    return hn::LoadU(df, row);
  }
  static HWY_INLINE float LoadOne(const Stored* row) { return *row; }
};

struct Float16Row {
  static constexpr bool kIsRow = true;
  static constexpr bool kIsDouble = false;
  using Stored = std::uint16_t;
  template <class DF>
  static HWY_INLINE hn::Vec<DF> Load(DF df, const Stored* row) {
    const hn::Rebind<std::uint16_t, DF> du16;
#if EMBD_HAVE_F16C
    const hn::Rebind<hwy::float16_t, DF> df16;
    return hn::PromoteTo(df, hn::BitCast(df16, hn::LoadU(du16, row)));
#else
    const hn::RebindToSigned<DF> di;
    const hn::RebindToUnsigned<DF> du;
    const auto half = hn::PromoteTo(du, hn::LoadU(du16, row));
    const auto magnitude = hn::And(half, hn::Set(du, 0x7FFFu));
    const auto sign = hn::ShiftLeft<16>(hn::Sub(half, magnitude));
    const auto shifted = hn::ShiftLeft<13>(magnitude);
    const auto smallest = hn::Set(du, 113u << 23);  // 2^-14, the smallest normal
    const auto subnormal =
        hn::BitCast(du, hn::Sub(hn::BitCast(df, hn::Add(shifted, smallest)), hn::BitCast(df, smallest)));
    const auto infinite = hn::Add(shifted, hn::Set(du, 224u << 23));
    const auto nan = hn::Or(infinite, hn::Set(du, 1u << 22));
    const auto signed_magnitude = hn::BitCast(di, magnitude);
    auto wide = hn::Add(shifted, hn::Set(du, 112u << 23));
    wide = hn::IfThenElse(hn::RebindMask(du, hn::Lt(signed_magnitude, hn::Set(di, 0x0400))), subnormal, wide);
    wide = hn::IfThenElse(hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, 0x7BFF))), infinite, wide);
    wide = hn::IfThenElse(hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, 0x7C00))), nan, wide);
    return hn::BitCast(df, hn::Or(wide, sign));
#endif
  }
  static HWY_INLINE float LoadOne(const Stored* row) { return HalfToFloat(*row); }
};

struct BFloat16Row {
  static constexpr bool kIsRow = true;
  static constexpr bool kIsDouble = false;
  using Stored = std::uint16_t;
  template <class DF>
  static HWY_INLINE hn::Vec<DF> Load(DF df, const Stored* row) {
    const hn::Rebind<std::uint16_t, DF> du16;
    const hn::RebindToUnsigned<DF> du;
    return hn::BitCast(df, hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(du16, row))));
  }
  static HWY_INLINE float LoadOne(const Stored* row) { return BFloat16ToFloat(*row); }
};

struct Float64Row {
  static constexpr bool kIsRow = true;
  static constexpr bool kIsDouble = true;
  using Stored = double;
  template <class DF>
  static HWY_INLINE hn::Vec<DF> Load(DF df, const Stored* row) {
#if HWY_TARGET == HWY_SCALAR
    return hn::Set(df, LoadOne(row));  // Highway's own would make infinity the largest float
#else
    const hn::Rebind<double, DF> dd;
    return hn::DemoteTo(df, hn::LoadU(dd, row));
#endif
  }
  static HWY_INLINE float LoadOne(const Stored* row) { return static_cast<float>(*row); }
};

// Whether vectors of that tag are stored past the caches where that is wanted; Highway's store of narrower ones writes
// 16 bytes all the same.
template <class D>
inline constexpr bool kCanStream = HWY_TARGET != HWY_SCALAR&& hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) >= 16;

// `out` is aligned to the vector's bytes where kStreams.
template <bool kStreams, class D>
HWY_INLINE void StoreLanes(D d, hn::Vec<D> lanes, hn::TFromD<D>* out) {
  if constexpr (kStreams && kCanStream<D>) {
    hn::Stream(lanes, d, out);
  } else {
    hn::StoreU(lanes, d, out);
  }
}

// One output type.

struct Float32Out {
  using Stored = float;
  template <bool kStreams, class DF>
  static HWY_INLINE void Store(DF df, hn::Vec<DF> value, Stored* out) {
    StoreLanes<kStreams>(df, value, out);
  }
  static HWY_INLINE void StoreOne(float value, Stored* out) { *out = value; }
};

struct Float16Out {
  using Stored = std::uint16_t;
  template <bool kStreams, class DF>
  static HWY_INLINE void Store(DF df, hn::Vec<DF> value, Stored* out) {
    const hn::Rebind<std::uint16_t, DF> du16;
#if EMBD_HAVE_F16C
    const hn::Rebind<hwy::float16_t, DF> df16;
    StoreLanes<kStreams>(du16, hn::BitCast(du16, hn::DemoteTo(df16, value)), out);
    (void)df;
#else
    const hn::RebindToSigned<DF> di;
    const hn::RebindToUnsigned<DF> du;
    const auto bits = hn::BitCast(du, value);
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFFu));
    const auto sign = hn::ShiftRight<16>(hn::Sub(bits, magnitude));
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
    const auto normal =
        hn::ShiftRight<13>(hn::Add(hn::Sub(magnitude, hn::Set(du, 112u << 23)), hn::Add(odd, hn::Set(du, 0xFFFu))));
    const auto magic = hn::Set(du, 126u << 23);  // adding 0.5 rounds at 2^-24, the step of subnormals
    const auto subnormal = hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(df, magnitude), hn::BitCast(df, magic))), magic);
    const auto nan = hn::Or(hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 0x3FFu)), hn::Set(du, 0x7E00u));
    const auto signed_magnitude = hn::BitCast(di, magnitude);
    auto half = hn::IfThenElse(hn::RebindMask(du, hn::Lt(signed_magnitude, hn::Set(di, 113 << 23))), subnormal, normal);
    half = hn::IfThenElse(hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, (143 << 23) - 1))),
                          hn::Set(du, 0x7C00u), half);
    half = hn::IfThenElse(hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, 255 << 23))), nan, half);
    StoreLanes<kStreams>(du16, hn::DemoteTo(du16, hn::BitCast(di, hn::Or(half, sign))), out);
#endif
  }
  static HWY_INLINE void StoreOne(float value, Stored* out) { *out = FloatToHalf(value); }
};

struct BFloat16Out {
  using Stored = std::uint16_t;
  template <bool kStreams, class DF>
  static HWY_INLINE void Store(DF, hn::Vec<DF> value, Stored* out) {
    const hn::Rebind<std::uint16_t, DF> du16;
    const hn::RebindToSigned<DF> di;
    const hn::RebindToUnsigned<DF> du;
    const auto bits = hn::BitCast(du, value);
    const auto upper = hn::ShiftRight<16>(bits);
    const auto odd = hn::And(upper, hn::Set(du, 1u));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFFu))));
    const auto nan = hn::Or(upper, hn::Set(du, 0x40u));
    const auto magnitude = hn::BitCast(di, hn::And(bits, hn::Set(du, 0x7FFFFFFFu)));
    const auto is_nan = hn::RebindMask(du, hn::Gt(magnitude, hn::Set(di, 255 << 23)));
    StoreLanes<kStreams>(du16, hn::DemoteTo(du16, hn::BitCast(di, hn::IfThenElse(is_nan, nan, rounded))), out);
  }
  static HWY_INLINE void StoreOne(float value, Stored* out) { *out = FloatToBFloat16(value); }
};

}  // namespace HWY_NAMESPACE
}  // namespace embd::core
HWY_AFTER_NAMESPACE();

#endif  // EMBD_SERVER_CORE_KERNELS_ELEMENT_LANES_INL_H_
