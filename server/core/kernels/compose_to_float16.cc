#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/core/kernels/compose_to_float16.cc"
#include "hwy/foreach_target.h"
// After foreach_target, which includes this file once for each target.
#include "server/core/kernels/compose-inl.h"
#include "server/core/kernels/compose_to.h"

HWY_BEFORE_NAMESPACE();
namespace embd::core {
namespace HWY_NAMESPACE {

void ComposeToFloat16(const ComposeArguments& arguments) { ComposeTo<Float16Out>(arguments); }

}  // namespace HWY_NAMESPACE
}  // namespace embd::core
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace embd::core {

HWY_EXPORT(ComposeToFloat16);

void ComposeToFloat16(const ComposeArguments& arguments) { HWY_DYNAMIC_DISPATCH(ComposeToFloat16)(arguments); }

}  // namespace embd::core
#endif
