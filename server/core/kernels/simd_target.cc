#include "server/core/kernels/simd_target.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hwy/highway.h"
#include "server/core/error.h"

namespace embd::core {
namespace {

struct Target {
  std::int64_t bit = 0;
  absl::string_view name;
};

// Best first, as Highway numbers them: a better target has a lower bit.
constexpr Target kTargets[] = {
#if HWY_ARCH_X86
    {HWY_AVX3, "avx3"},
    {HWY_AVX2, "avx2"},
    {HWY_SSE4, "sse4"},
    {HWY_SSSE3, "ssse3"},
#elif HWY_ARCH_ARM
    {HWY_SVE2, "sve2"},
    {HWY_SVE, "sve"},
    {HWY_NEON, "neon"},
#endif
    {HWY_STATIC_TARGET, "scalar"},
};

}  // namespace

std::vector<std::string> SupportedSimdTargets() {
  std::vector<std::string> names;
  for (const Target& target : kTargets) {
    if ((hwy::SupportedTargets() & HWY_TARGETS & target.bit) != 0 || target.bit == HWY_STATIC_TARGET) {
      names.emplace_back(target.name);
    }
  }
  return names;
}

std::string SimdTarget() { return SupportedSimdTargets().front(); }

absl::Status CapSimdTarget(absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const Target& target : kTargets) {
    if (target.name == absl::AsciiStrToLower(name)) {
      hwy::DisableTargets(0);
      hwy::DisableTargets(target.bit - 1);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      return absl::OkStatus();
    }
    names.push_back(target.name);
  }
  return InvalidArgument("INVALID_CONFIG", absl::StrCat("there is no SIMD target ", Quote(name), "; there are ",
                                                        absl::StrJoin(names, ", ")));
}

}  // namespace embd::core
