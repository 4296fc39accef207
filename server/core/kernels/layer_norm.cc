#include "server/core/kernels/layer_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/core/kernels/layer_norm.cc"
#include "hwy/foreach_target.h"
// After foreach_target, which includes this file once for each target.
#include "server/core/kernels/layer_norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace embd::core {
namespace HWY_NAMESPACE {

void LayerNormRows(const LayerNormParameters& parameters, std::size_t row_count, float* rows) {
  NormaliseRows(parameters, row_count, rows);
}

void LayerNormBackwardRows(const LayerNormParameters& parameters, std::size_t row_count, const float* gradients,
                           float* rows) {
  GoBackRows(parameters, row_count, gradients, rows);
}

}  // namespace HWY_NAMESPACE
}  // namespace embd::core
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace embd::core {

HWY_EXPORT(LayerNormRows);
HWY_EXPORT(LayerNormBackwardRows);

void LayerNormRows(const LayerNormParameters& parameters, std::size_t row_count, float* rows) {
  HWY_DYNAMIC_DISPATCH(LayerNormRows)(parameters, row_count, rows);
}

void LayerNormBackwardRows(const LayerNormParameters& parameters, std::size_t row_count, const float* gradients,
                           float* rows) {
  HWY_DYNAMIC_DISPATCH(LayerNormBackwardRows)(parameters, row_count, gradients, rows);
}

}  // namespace embd::core
#endif
