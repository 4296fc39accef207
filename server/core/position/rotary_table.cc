#include "server/core/position/rotary_table.h"

#include <cmath>
#include <cstddef>

namespace embd::core {

void RotaryRow(const RotaryFrequencies& frequencies, std::int64_t position, RotaryDirection direction, float* cos,
               float* sin) {
  const bool forward = direction == RotaryDirection::kForward;
  const double factor = forward ? frequencies.attention_factor : 1 / frequencies.attention_factor;
  const double sign = forward ? factor : -factor;
  for (std::size_t i = 0; i < frequencies.inv_freq.size(); ++i) {
    const double angle = static_cast<double>(position) * frequencies.inv_freq[i];
    cos[i] = static_cast<float>(std::cos(angle) * factor);
    sin[i] = static_cast<float>(std::sin(angle) * sign);
  }
}

}  // namespace embd::core
