#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/core/kernels/compose_to_bfloat16.cc"
#include "hwy/foreach_target.h"
// After foreach_target, which includes this file once for each target.
#include "server/core/kernels/compose-inl.h"
#include "server/core/kernels/compose_to.h"

HWY_BEFORE_NAMESPACE();
namespace embd::core {
namespace HWY_NAMESPACE {

void ComposeToBFloat16(const ComposeArguments& arguments) { ComposeTo<BFloat16Out>(arguments); }

}  // namespace HWY_NAMESPACE
}  // namespace embd::core
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace embd::core {

HWY_EXPORT(ComposeToBFloat16);

void ComposeToBFloat16(const ComposeArguments& arguments) { HWY_DYNAMIC_DISPATCH(ComposeToBFloat16)(arguments); }

}  // namespace embd::core
#endif
