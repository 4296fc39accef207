#ifndef EMBD_SERVER_CORE_KERNELS_COMPOSE_TO_H_
#define EMBD_SERVER_CORE_KERNELS_COMPOSE_TO_H_

#include "server/core/kernels/compose.h"

namespace embd::core {

// scale * first + second + third, as far as they are there, for one output type, on the best SIMD target that is
// allowed. A third term has to be stored in the type of the others; divisors, layer_norm and saturate are not looked
// at. A file each, since each is compiled for all targets.
void ComposeToFloat32(const ComposeArguments& arguments);
void ComposeToFloat16(const ComposeArguments& arguments);
void ComposeToBFloat16(const ComposeArguments& arguments);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_KERNELS_COMPOSE_TO_H_
