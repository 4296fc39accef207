#include "server/core/position/rotary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/position/rotary_checks.h"

namespace embd::core {
namespace {

using Kind = RotaryScalingKind;

// theta^(-2i / dim) for each pair i.
std::vector<double> Powers(double theta, std::int64_t dim, std::int64_t pairs) {
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(pairs));
  for (std::int64_t i = 0; i < pairs; ++i) {
    result.push_back(std::pow(theta, -static_cast<double>(2 * i) / static_cast<double>(dim)));
  }
  return result;
}

std::vector<double> Powers(double theta, std::int64_t dim) { return Powers(theta, dim, dim / 2); }

void Divide(double divisor, std::vector<double>* frequencies) {
  for (double& frequency : *frequencies) frequency /= divisor;
}

// The theta at which the slowest pair turns `stretch` times as slowly as before, and the fastest as fast.
double NtkTheta(double theta, double stretch, std::int64_t dim) {
  return theta * std::pow(stretch, static_cast<double>(dim) / static_cast<double>(dim - 2));
}

RotaryFrequencies Dynamic(const RotaryParameters& parameters, std::int64_t dim, std::int64_t scaling_length) {
  const auto trained = static_cast<double>(*parameters.scaling.max_position_embeddings);
  const double length = std::max(trained, static_cast<double>(scaling_length));
  const double factor = *parameters.scaling.factor;
  return {Powers(NtkTheta(parameters.theta, factor * length / trained - (factor - 1), dim), dim)};
}

// What yarn and longrope stretch: the length trained on.
double TrainedLength(const RotaryScaling& scaling) {
  return static_cast<double>(scaling.original_max_position_embeddings.has_value()
                                 ? *scaling.original_max_position_embeddings
                                 : *scaling.max_position_embeddings);
}

// 0 counts as unset.
double OrDefault(std::optional<double> value, double standard) { return value.value_or(0) == 0 ? standard : *value; }

double YarnMagnitude(double factor, double mscale) { return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0; }

double YarnAttention(const RotaryScaling& scaling, double factor) {
  if (scaling.attention_factor.has_value()) return *scaling.attention_factor;
  const double mscale = scaling.mscale.value_or(0);
  const double all_dim = scaling.mscale_all_dim.value_or(0);
  if (mscale == 0 || all_dim == 0) return YarnMagnitude(factor, 1.0);
  return YarnMagnitude(factor, mscale) / YarnMagnitude(factor, all_dim);
}

// Between the pairs `low` and `high` frequencies go over from unchanged to divided.
struct Ramp {
  double low = 0;
  double high = 0;
};

Ramp YarnRamp(const RotaryParameters& parameters, std::int64_t dim) {
  const RotaryScaling& scaling = parameters.scaling;
  const auto width = static_cast<double>(dim);
  // The pair that turns that many times over the length trained on.
  const auto pair = [&](double turns) {
    return width * std::log(TrainedLength(scaling) / (turns * 2 * std::numbers::pi)) / (2 * std::log(parameters.theta));
  };
  Ramp ramp = {pair(OrDefault(scaling.beta_fast, 32)), pair(OrDefault(scaling.beta_slow, 1))};
  if (scaling.truncate.value_or(true)) ramp = {std::floor(ramp.low), std::ceil(ramp.high)};
  ramp = {std::max(ramp.low, 0.0), std::min(ramp.high, width - 1)};
  if (ramp.low == ramp.high) ramp.high += 0.001;
  return ramp;
}

RotaryFrequencies Yarn(const RotaryParameters& parameters, std::int64_t dim) {
  const RotaryScaling& scaling = parameters.scaling;
  const double factor = scaling.factor.has_value()
                            ? *scaling.factor
                            : static_cast<double>(*scaling.max_position_embeddings) / TrainedLength(scaling);
  const Ramp ramp = YarnRamp(parameters, dim);
  RotaryFrequencies result{Powers(parameters.theta, dim), YarnAttention(scaling, factor)};
  for (std::size_t i = 0; i < result.inv_freq.size(); ++i) {
    const double divided = std::clamp((static_cast<double>(i) - ramp.low) / (ramp.high - ramp.low), 0.0, 1.0);
    result.inv_freq[i] = result.inv_freq[i] / factor * divided + result.inv_freq[i] * (1 - divided);
  }
  return result;
}

double LongRopeAttention(const RotaryScaling& scaling) {
  if (scaling.attention_factor.has_value()) return *scaling.attention_factor;
  const bool has_both =
      scaling.original_max_position_embeddings.has_value() && scaling.max_position_embeddings.has_value();
  const double factor =
      has_both ? static_cast<double>(*scaling.max_position_embeddings) / TrainedLength(scaling) : *scaling.factor;
  return factor <= 1 ? 1.0 : std::sqrt(1 + std::log(factor) / std::log(TrainedLength(scaling)));
}

RotaryFrequencies LongRope(const RotaryParameters& parameters, std::int64_t dim, std::int64_t scaling_length) {
  const RotaryScaling& scaling = parameters.scaling;
  const bool is_long = static_cast<double>(scaling_length) > TrainedLength(scaling);
  const std::vector<double>& divisors = is_long ? scaling.long_factor : scaling.short_factor;
  RotaryFrequencies result{Powers(parameters.theta, dim), LongRopeAttention(scaling)};
  for (std::size_t i = 0; i < divisors.size(); ++i) result.inv_freq[i] /= divisors[i];
  return result;
}

// Frequencies of long waves are divided, those of short ones kept, and those between blended.
RotaryFrequencies Llama3(const RotaryParameters& parameters, std::int64_t dim) {
  const RotaryScaling& scaling = parameters.scaling;
  const double low = *scaling.low_freq_factor;
  const double high = *scaling.high_freq_factor;
  RotaryFrequencies result{Powers(parameters.theta, dim)};
  for (double& frequency : result.inv_freq) {
    const double turns = TrainedLength(scaling) * frequency / (2 * std::numbers::pi);
    const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    frequency = (1 - kept) * frequency / *scaling.factor + kept * frequency;
  }
  return result;
}

RotaryFrequencies Proportional(const RotaryParameters& parameters) {
  const std::int64_t head_dim = parameters.head_dim;
  const std::int64_t rotary_dim = parameters.rotary_dim.value_or(0);
  RotaryFrequencies result{Powers(parameters.theta, head_dim, (rotary_dim == 0 ? head_dim : rotary_dim) / 2)};
  Divide(parameters.scaling.factor.value_or(1.0), &result.inv_freq);
  result.inv_freq.resize(static_cast<std::size_t>(head_dim / 2), 0.0);
  return result;
}

RotaryFrequencies Compute(const RotaryParameters& parameters, Kind kind, std::int64_t scaling_length) {
  const std::int64_t dim = PairedDim(parameters);
  switch (kind) {
    case Kind::kLinear: {
      RotaryFrequencies result{Powers(parameters.theta, dim)};
      Divide(*parameters.scaling.factor, &result.inv_freq);
      return result;
    }
    case Kind::kNtk: return {Powers(NtkTheta(parameters.theta, *parameters.scaling.factor, dim), dim)};
    case Kind::kDynamic: return Dynamic(parameters, dim, scaling_length);
    case Kind::kYarn: return Yarn(parameters, dim);
    case Kind::kLongRope: return LongRope(parameters, dim, scaling_length);
    case Kind::kLlama3: return Llama3(parameters, dim);
    case Kind::kProportional: return Proportional(parameters);
    case Kind::kDefault: break;
  }
  return {Powers(parameters.theta, dim)};
}

absl::Status CheckResult(const RotaryFrequencies& result) {
  constexpr double kMost = 1e30;  // its products with float32 values of models stay finite, and so does its reciprocal
  if (!(result.attention_factor >= 1 / kMost && result.attention_factor <= kMost)) {
    return InvalidArgument(
        "INVALID_OPTION",
        absl::StrCat("the attention factor must be from 1e-30 to 1e30; scaling gives ", result.attention_factor));
  }
  for (std::size_t i = 0; i < result.inv_freq.size(); ++i) {
    if (!(result.inv_freq[i] >= 0 && std::isfinite(result.inv_freq[i] * static_cast<double>(kMaxRotaryPosition)))) {
      return InvalidArgument("INVALID_OPTION", absl::StrCat("theta and scaling give pair ", i, " the frequency ",
                                                            result.inv_freq[i], ", whose angles a double cannot hold"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view RotaryPairingName(RotaryPairing pairing) {
  return pairing == RotaryPairing::kHalf ? "half" : "interleaved";
}

std::int64_t PairedDim(const RotaryParameters& parameters) {
  const std::int64_t rotary_dim = parameters.rotary_dim.value_or(0);
  const bool all = rotary_dim == 0 || FindScalingKind(parameters.scaling.type) == Kind::kProportional;
  return all ? parameters.head_dim : rotary_dim;
}

bool DependsOnLength(const RotaryScaling& scaling) {
  const auto kind = FindScalingKind(scaling.type);
  return kind == Kind::kDynamic || kind == Kind::kLongRope;
}

absl::StatusOr<RotaryFrequencies> ResolveRotary(const RotaryParameters& parameters, std::int64_t scaling_length) {
  if (absl::Status status = CheckRotary(parameters); !status.ok()) return status;
  RotaryFrequencies result = Compute(parameters, *FindScalingKind(parameters.scaling.type), scaling_length);
  if (absl::Status status = CheckResult(result); !status.ok()) return status;
  return result;
}

}  // namespace embd::core
