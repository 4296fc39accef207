#include "client/fake/rotary_frequencies.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <string>

#include "absl/strings/str_cat.h"
#include "embd/client/error.h"

namespace embd::client::fake {
namespace {

absl::Status Invalid(absl::string_view message) {
  return ErrorWithReason(absl::StatusCode::kInvalidArgument, "INVALID_OPTION", message);
}

// One computation: what is wrong is kept, and answers go on to be made of 1 until it is asked for.
class Computation {
 public:
  Computation(const RotaryParameters& parameters, std::int64_t length)
      : parameters_(parameters),
        scaling_(parameters.scaling.value_or(RotaryScaling{})),
        length_(static_cast<double>(length)) {}

  absl::StatusOr<Frequencies> Run() {
    const std::string type = scaling_.type.empty() ? "default" : scaling_.type;
    CheckDims(type);
    if (!fault_.ok()) return fault_;
    const std::map<std::string, std::function<void()>> kinds = {
        {"default", [this] { Unscaled(Theta()); }},
        {"linear", [this] { Unscaled(Theta()), Multiply(1 / Positive("factor", scaling_.factor)); }},
        {"ntk", [this] { Stretched(Positive("factor", scaling_.factor)); }},
        {"dynamic", [this] { Dynamic(); }},
        {"yarn", [this] { Yarn(); }},
        {"longrope", [this] { LongRope(); }},
        {"su", [this] { LongRope(); }},
        {"llama3", [this] { Llama3(); }},
        {"proportional", [this] { Proportional(); }}};
    const auto kind = kinds.find(type);
    if (kind == kinds.end()) return Invalid(absl::StrCat("scaling.type \"", type, "\" is unknown"));
    kind->second();
    if (!fault_.ok()) return fault_;
    const bool finite = std::all_of(result_.per_pair.begin(), result_.per_pair.end(),
                                    [](double value) { return std::isfinite(value * 0x1p24); });
    if (!finite || !(result_.attention_factor > 1e-30 && result_.attention_factor < 1e30)) {
      return Invalid("theta and scaling give no finite frequencies");
    }
    return result_;
  }

 private:
  void Fail(absl::string_view message) {
    if (fault_.ok()) fault_ = Invalid(message);
  }

  void CheckDims(const std::string& type) {
    const std::int64_t rotary_dim = parameters_.rotary_dim.value_or(0);
    if (parameters_.head_dim < 2) Fail(absl::StrCat("head_dim ", parameters_.head_dim, " is below 2"));
    if (rotary_dim < 0 || rotary_dim > parameters_.head_dim || rotary_dim % 2 != 0) {
      Fail(absl::StrCat("rotary_dim ", rotary_dim, " is no even part of head_dim ", parameters_.head_dim));
    }
    turned_ = static_cast<double>(rotary_dim == 0 ? parameters_.head_dim : rotary_dim);
    dim_ = type == "proportional" ? static_cast<double>(parameters_.head_dim) : turned_;
    if (std::fmod(dim_, 2) != 0) Fail(absl::StrCat("head_dim ", parameters_.head_dim, " is odd"));
    if (!(Theta() > 0 && std::isfinite(Theta()))) Fail(absl::StrCat("theta ", Theta(), " is not finite and > 0"));
  }

  double Theta() const { return parameters_.theta.value_or(10000.0); }

  double Positive(absl::string_view name, std::optional<double> value) {
    if (!value.has_value()) Fail(absl::StrCat("scaling of type ", scaling_.type, " needs ", name));
    if (value.has_value() && !(*value > 0 && std::isfinite(*value))) Fail(absl::StrCat(name, " is not finite and > 0"));
    return fault_.ok() ? *value : 1.0;
  }

  double Positive(absl::string_view name, std::optional<std::int64_t> value) {
    return Positive(name, value.has_value() ? std::optional(static_cast<double>(*value)) : std::nullopt);
  }

  double Original() {
    const auto& given = scaling_.original_max_position_embeddings;
    return Positive("original_max_position_embeddings", given.has_value() ? given : scaling_.max_position_embeddings);
  }

  std::optional<double> LengthRatio() {
    if (!scaling_.original_max_position_embeddings || !scaling_.max_position_embeddings) return std::nullopt;
    return Positive("max_position_embeddings", scaling_.max_position_embeddings) / Original();
  }

  void Unscaled(double theta) {
    for (double i = 0; i < dim_; i += 2) result_.per_pair.push_back(1 / std::pow(theta, i / dim_));
  }

  void Multiply(double by) {
    for (double& frequency : result_.per_pair) frequency *= by;
  }

  void Stretched(double by) {
    if (dim_ < 4) return Fail("rotary_dim must exceed 2");
    Unscaled(Theta() * std::pow(by, dim_ / (dim_ - 2)));
  }

  void Dynamic() {
    const double factor = Positive("factor", scaling_.factor);
    const double trained = Positive("max_position_embeddings", scaling_.max_position_embeddings);
    Stretched(1 + factor * (std::max(length_, trained) / trained - 1));
  }

  void Yarn() {
    const auto or_default = [](std::optional<double> value, double standard) {
      return value.value_or(0) == 0 ? standard : *value;
    };
    const double original = Original();
    const double factor = Positive("factor", scaling_.factor.has_value() ? scaling_.factor : LengthRatio());
    // Pair i makes original / (2 pi) * theta^(-2i/dim) turns.
    const auto pair = [&](double turns) {
      return dim_ / 2 * std::log(original / (2 * std::numbers::pi) / turns) / std::log(Theta());
    };
    double begin = pair(or_default(scaling_.beta_fast, 32));
    double end = pair(or_default(scaling_.beta_slow, 1));
    if (scaling_.truncate.value_or(true)) begin = std::floor(begin), end = std::ceil(end);
    begin = std::max(begin, 0.0);
    end = std::min(end, dim_ - 1);
    if (begin == end) end += 0.001;
    Unscaled(Theta());
    for (std::size_t i = 0; i < result_.per_pair.size(); ++i) {
      const double share = std::clamp((static_cast<double>(i) - begin) / (end - begin), 0.0, 1.0);
      result_.per_pair[i] *= 1 - share + share / factor;
    }
    const auto magnitude = [&](double scale) { return factor > 1 ? 1 + scale * std::log(factor) / 10 : 1.0; };
    const double mscale = scaling_.mscale.value_or(0);
    const double all = scaling_.mscale_all_dim.value_or(0);
    result_.attention_factor = mscale != 0 && all != 0 ? magnitude(mscale) / magnitude(all) : magnitude(1);
    if (scaling_.attention_factor) result_.attention_factor = Positive("attention_factor", scaling_.attention_factor);
  }

  void LongRope() {
    const double original = Original();
    const auto& divisors = length_ > original ? scaling_.long_factor : scaling_.short_factor;
    const auto pairs = static_cast<std::size_t>(dim_ / 2);
    if (scaling_.short_factor.size() != pairs || scaling_.long_factor.size() != pairs) {
      return Fail("short_factor and long_factor must have a value a pair");
    }
    Unscaled(Theta());
    for (std::size_t i = 0; i < pairs; ++i) result_.per_pair[i] /= Positive("divisors", std::optional(divisors[i]));
    if (scaling_.attention_factor) {
      result_.attention_factor = Positive("attention_factor", scaling_.attention_factor);
      return;
    }
    const auto ratio = LengthRatio();
    const double factor = Positive("factor", ratio.has_value() ? ratio : scaling_.factor);
    if (factor > 1) result_.attention_factor = std::sqrt((std::log(original) + std::log(factor)) / std::log(original));
  }

  void Llama3() {
    const double factor = Positive("factor", scaling_.factor);
    const double low = Positive("low_freq_factor", scaling_.low_freq_factor);
    const double high = Positive("high_freq_factor", scaling_.high_freq_factor);
    const double original = Positive("original_max_position_embeddings", scaling_.original_max_position_embeddings);
    if (high <= low) return Fail("high_freq_factor must exceed low_freq_factor");
    Unscaled(Theta());
    for (double& frequency : result_.per_pair) {
      const double turns = original * frequency / (2 * std::numbers::pi);
      if (turns >= high) continue;
      const double kept = turns <= low ? 0.0 : (turns - low) / (high - low);
      frequency *= kept + (1 - kept) / factor;
    }
  }

  void Proportional() {
    Unscaled(Theta());
    if (scaling_.factor) Multiply(1 / Positive("factor", scaling_.factor));
    for (auto i = static_cast<std::size_t>(turned_ / 2); i < result_.per_pair.size(); ++i) result_.per_pair[i] = 0;
  }

  const RotaryParameters& parameters_;
  const RotaryScaling scaling_;
  const double length_;
  double turned_ = 0;
  double dim_ = 0;
  absl::Status fault_;
  Frequencies result_;
};

}  // namespace

absl::StatusOr<Frequencies> FrequenciesOf(const RotaryParameters& parameters, std::int64_t length) {
  return Computation(parameters, length).Run();
}

}  // namespace embd::client::fake
