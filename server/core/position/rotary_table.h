#ifndef EMBD_SERVER_CORE_POSITION_ROTARY_TABLE_H_
#define EMBD_SERVER_CORE_POSITION_ROTARY_TABLE_H_

#include <cstdint>

#include "server/core/position/rotary.h"

namespace embd::core {

/// Which way vectors are turned. `kBackward` undoes `kForward`: minus the angle, divided by the attention factor.
enum class RotaryDirection { kForward, kBackward };

/// Writes cosine and sine of one position, inv_freq.size() values each: computed in double, multiplied (or divided) by
/// the attention factor, and rounded once to float32. `position` is in [0, kMaxRotaryPosition]. Cost: one sine and one
/// cosine in double a pair, about 30 ns.
void RotaryRow(const RotaryFrequencies& frequencies, std::int64_t position, RotaryDirection direction, float* cos,
               float* sin);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_POSITION_ROTARY_TABLE_H_
