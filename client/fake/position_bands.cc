#include "client/fake/position_bands.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/fake/lookup.h"
#include "client/fake/refusal.h"
#include "client/fake/rotary_frequencies.h"

namespace embd::client::fake {
namespace {

constexpr std::int64_t kMaxDim = 65536;
constexpr std::int64_t kMaxLength = std::int64_t{1} << 24;
constexpr double kBase = 10000;

absl::StatusOr<std::vector<double>> OfFormula(const SinusoidalFormula& formula) {
  const std::int64_t dim = formula.embedding_dim;
  const double base = formula.base.value_or(kBase);
  const double steps = static_cast<double>(dim) / 2 - (formula.tensor2tensor ? 1 : 0);
  if (dim < 2 || dim > kMaxDim || dim % 2 != 0 || steps == 0) {
    return Invalid("INVALID_OPTION", absl::StrCat("sinusoidal.embedding_dim ", dim, " is no width of a formula"));
  }
  std::vector<double> frequencies;
  for (double i = 0; i < static_cast<double>(dim) / 2; ++i) frequencies.push_back(std::pow(base, -i / steps));
  if (!(base > 0 && std::isfinite(base) && std::isfinite(frequencies.back() * kMaxDim))) {
    return Invalid("INVALID_OPTION", absl::StrCat("sinusoidal.base ", base, " is no base"));
  }
  return frequencies;
}

absl::StatusOr<std::vector<double>> OfRotary(const RotaryParameters& parameters, std::int64_t length) {
  auto frequencies = FrequenciesOf(parameters, length);
  if (!frequencies.ok()) return frequencies.status();
  return std::move(frequencies->per_pair);
}

absl::StatusOr<std::vector<double>> OfModel(const FakeModel& model, const std::string& layer_type, std::int64_t length,
                                            double* base) {
  const RotaryParameters* rotary = model.rotary.has_value() ? &*model.rotary : nullptr;
  if (!layer_type.empty()) {
    const auto found = model.rotary_layer_types.find(layer_type);
    if (found == model.rotary_layer_types.end()) {
      return Invalid("INVALID_OPTION", absl::StrCat("no layer_type \"", layer_type, "\""));
    }
    rotary = &found->second;
  }
  if (rotary != nullptr) {
    *base = rotary->theta.value_or(kBase);
    return OfRotary(*rotary, length);
  }
  if (Describe(model).position_encoding == PositionEncoding::kSinusoidal) {
    return OfFormula({.embedding_dim = model.embedding_dim});
  }
  return ErrorWithReason(absl::StatusCode::kFailedPrecondition, "NO_WAVELENGTHS",
                         absl::StrCat("the positions of model \"", model.name, "\" have no wavelengths"));
}

absl::StatusOr<std::vector<double>> BandsOf(const FakeModel* model, const PositionWavelengthsRequest& request,
                                            double* base) {
  const std::int64_t length = request.scaling_length.value_or(1);
  if (length < 1 || length > kMaxLength) {
    return Invalid("INVALID_OPTION", absl::StrCat("scaling_length must be from 1 to ", kMaxLength));
  }
  if (model != nullptr) return OfModel(*model, request.layer_type, length, base);
  if (!request.layer_type.empty()) return Invalid("INVALID_OPTION", "layer_type needs a model");
  if (request.rotary.has_value()) {
    *base = request.rotary->theta.value_or(kBase);
    return OfRotary(*request.rotary, length);
  }
  *base = request.sinusoidal->base.value_or(kBase);
  return OfFormula(*request.sinusoidal);
}

}  // namespace

absl::StatusOr<PositionWavelengths> MeasureBands(const FakeModel* model, const PositionWavelengthsRequest& request) {
  const int sources = (model != nullptr ? 1 : 0) + (request.sinusoidal ? 1 : 0) + (request.rotary ? 1 : 0);
  if (sources != 1) return Invalid("INVALID_OPTION", "give exactly one of model, sinusoidal and rotary");
  double base = kBase;
  auto frequencies = BandsOf(model, request, &base);
  if (!frequencies.ok()) return frequencies.status();

  PositionWavelengths result = {.dim = 2 * static_cast<std::int64_t>(frequencies->size()), .base = base};
  if (model != nullptr) {
    result.model = model->name;
    result.model_version = model->version;
    result.max_context_length = Describe(*model).max_context_length;
  }
  result.frequencies = *std::move(frequencies);
  for (const double frequency : result.frequencies) {
    const double wavelength = frequency == 0 ? HUGE_VAL : 2 * std::numbers::pi / frequency;
    result.wavelengths.push_back(wavelength);
    const bool turns = result.max_context_length ? wavelength <= static_cast<double>(*result.max_context_length)
                                                 : std::isfinite(wavelength);
    if (turns) ++result.full_turns;
  }
  const auto [shortest, longest] = std::minmax_element(result.wavelengths.begin(), result.wavelengths.end());
  result.shortest = *shortest;
  result.longest = *longest;
  if (result.wavelengths.size() > 1) result.ratio = result.wavelengths[1] / result.wavelengths[0];
  return result;
}

}  // namespace embd::client::fake
