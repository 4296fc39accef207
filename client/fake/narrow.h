#ifndef EMBD_CLIENT_FAKE_NARROW_H_
#define EMBD_CLIENT_FAKE_NARROW_H_

#include <cstddef>
#include <span>

#include "embd/client/enums.h"

namespace embd::client::fake {

/// Writes `values` to `out`, which has room for them, as `type`: kFloat32, or rounded to the nearest kFloat16 or
/// kBfloat16, ties to even.
void Narrow(std::span<const float> values, DataType type, std::byte* out);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_NARROW_H_
