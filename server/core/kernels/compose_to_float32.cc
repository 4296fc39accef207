#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/core/kernels/compose_to_float32.cc"
#include "hwy/foreach_target.h"
// After foreach_target, which includes this file once for each target.
#include "server/core/kernels/compose-inl.h"
#include "server/core/kernels/compose_to.h"

HWY_BEFORE_NAMESPACE();
namespace embd::core {
namespace HWY_NAMESPACE {

void ComposeToFloat32(const ComposeArguments& arguments) { ComposeTo<Float32Out>(arguments); }

}  // namespace HWY_NAMESPACE
}  // namespace embd::core
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace embd::core {

HWY_EXPORT(ComposeToFloat32);

void ComposeToFloat32(const ComposeArguments& arguments) { HWY_DYNAMIC_DISPATCH(ComposeToFloat32)(arguments); }

}  // namespace embd::core
#endif
