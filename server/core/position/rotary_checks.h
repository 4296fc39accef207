#ifndef EMBD_SERVER_CORE_POSITION_ROTARY_CHECKS_H_
#define EMBD_SERVER_CORE_POSITION_ROTARY_CHECKS_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/position/rotary.h"

namespace embd::core {

/// The types of scaling.
enum class RotaryScalingKind { kDefault, kLinear, kNtk, kDynamic, kYarn, kLongRope, kLlama3, kProportional };

/// The type of that name ("" is default, "su" longrope), or nothing.
[[nodiscard]] std::optional<RotaryScalingKind> FindScalingKind(absl::string_view name);

/// What ResolveRotary refuses before it computes anything: widths, theta, the type, and the fields that it takes.
[[nodiscard]] absl::Status CheckRotary(const RotaryParameters& parameters);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_POSITION_ROTARY_CHECKS_H_
