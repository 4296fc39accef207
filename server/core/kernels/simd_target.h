#ifndef EMBD_SERVER_CORE_KERNELS_SIMD_TARGET_H_
#define EMBD_SERVER_CORE_KERNELS_SIMD_TARGET_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace embd::core {

/// The name of the SIMD target that kernels run on: "avx3", "avx2", "sse4", "ssse3" or "scalar".
[[nodiscard]] std::string SimdTarget();

/// The targets that this CPU has and this build contains, best first; "scalar" is always the last.
[[nodiscard]] std::vector<std::string> SupportedSimdTargets();

/// Keeps kernels from using anything better than that target; a better target than the CPU has is no error. Meant for
/// start-up and tests: not to be called while kernels run.
///
/// Errors:
///   INVALID_ARGUMENT  no such target; the message lists those there are.
[[nodiscard]] absl::Status CapSimdTarget(absl::string_view name);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_KERNELS_SIMD_TARGET_H_
