#include "server/core/position/rotary_checks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"

namespace embd::core {
namespace {

using Kind = RotaryScalingKind;

struct Type {
  absl::string_view name;
  Kind kind;
  std::span<const absl::string_view> fields;  // those it takes
};

constexpr absl::string_view kFactor[] = {"factor"};
constexpr absl::string_view kDynamic[] = {"factor", "max_position_embeddings"};
constexpr absl::string_view kYarn[] = {"factor",
                                       "original_max_position_embeddings",
                                       "beta_fast",
                                       "beta_slow",
                                       "attention_factor",
                                       "mscale",
                                       "mscale_all_dim",
                                       "truncate",
                                       "max_position_embeddings"};
constexpr absl::string_view kLongRope[] = {"factor",           "original_max_position_embeddings",
                                           "attention_factor", "short_factor",
                                           "long_factor",      "max_position_embeddings"};
constexpr absl::string_view kLlama3[] = {"factor", "original_max_position_embeddings", "low_freq_factor",
                                         "high_freq_factor"};

const Type kTypes[] = {
    {"default", Kind::kDefault, {}},
    {"linear", Kind::kLinear, kFactor},
    {"ntk", Kind::kNtk, kFactor},
    {"dynamic", Kind::kDynamic, kDynamic},
    {"yarn", Kind::kYarn, kYarn},
    {"longrope", Kind::kLongRope, kLongRope},
    {"su", Kind::kLongRope, kLongRope},
    {"llama3", Kind::kLlama3, kLlama3},
    {"proportional", Kind::kProportional, kFactor},
};

const Type* FindType(absl::string_view name) {
  if (name.empty()) name = "default";
  const auto* const found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [name](const Type& type) { return type.name == name; });
  return found == std::end(kTypes) ? nullptr : found;
}

absl::Status Bad(absl::string_view message) { return InvalidArgument("INVALID_OPTION", message); }

// Names a field together with the type that takes it.
std::string Field(const RotaryScaling& scaling, absl::string_view name) {
  return absl::StrCat("scaling.", name, " (type ", scaling.type, ")");
}

absl::Status Missing(const RotaryScaling& scaling, absl::string_view name, absl::string_view instead = "") {
  return Bad(absl::StrCat("scaling of type ", scaling.type, " needs ", name, instead));
}

absl::Status CheckPositive(const RotaryScaling& scaling, absl::string_view name, std::optional<double> value) {
  if (!value.has_value() || (std::isfinite(*value) && *value > 0)) return absl::OkStatus();
  return Bad(absl::StrCat(Field(scaling, name), " must be finite and > 0, got ", *value));
}

absl::Status CheckNotNegative(const RotaryScaling& scaling, absl::string_view name, std::optional<double> value) {
  if (!value.has_value() || (std::isfinite(*value) && *value >= 0)) return absl::OkStatus();
  return Bad(absl::StrCat(Field(scaling, name), " must be finite and >= 0, got ", *value));
}

absl::Status CheckCount(const RotaryScaling& scaling, absl::string_view name, std::optional<std::int64_t> value) {
  if (!value.has_value() || *value >= 1) return absl::OkStatus();
  return Bad(absl::StrCat(Field(scaling, name), " must be >= 1, got ", *value));
}

absl::Status First(std::initializer_list<absl::Status> checks) {
  for (const absl::Status& status : checks) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckCounts(const RotaryScaling& scaling) {
  return First({CheckCount(scaling, "original_max_position_embeddings", scaling.original_max_position_embeddings),
                CheckCount(scaling, "max_position_embeddings", scaling.max_position_embeddings)});
}

absl::Status CheckFactor(const RotaryScaling& scaling) {
  if (!scaling.factor.has_value()) return Missing(scaling, "factor");
  return CheckPositive(scaling, "factor", scaling.factor);
}

// The exponent d / (d - 2) of ntk and dynamic.
absl::Status CheckExponent(const RotaryParameters& parameters) {
  if (PairedDim(parameters) > 2) return absl::OkStatus();
  return Bad(absl::StrCat("scaling of type ", parameters.scaling.type,
                          " divides by rotary_dim - 2 and needs rotary_dim > 2, got ", PairedDim(parameters)));
}

absl::Status CheckDynamic(const RotaryScaling& scaling) {
  if (!scaling.max_position_embeddings.has_value()) return Missing(scaling, "max_position_embeddings");
  return CheckCount(scaling, "max_position_embeddings", scaling.max_position_embeddings);
}

// What yarn and longrope have in common: a length trained on, and how many times longer the context is.
absl::Status CheckStretch(const RotaryScaling& scaling) {
  const bool has_original = scaling.original_max_position_embeddings.has_value();
  const bool has_max = scaling.max_position_embeddings.has_value();
  if (!has_original && !has_max) {
    return Missing(scaling, "original_max_position_embeddings", ", or max_position_embeddings in its place");
  }
  const bool told = FindScalingKind(scaling.type) == Kind::kLongRope && scaling.attention_factor.has_value();
  if (!scaling.factor.has_value() && !(has_original && has_max) && !told) {
    return Missing(scaling, "factor", ", or both original_max_position_embeddings and max_position_embeddings");
  }
  return First({CheckPositive(scaling, "factor", scaling.factor), CheckCounts(scaling),
                CheckPositive(scaling, "attention_factor", scaling.attention_factor)});
}

absl::Status CheckYarn(const RotaryParameters& parameters) {
  const RotaryScaling& scaling = parameters.scaling;
  if (parameters.theta == 1.0)
    return Bad("scaling of type yarn divides by the logarithm of theta; theta must not be 1");
  return First({CheckStretch(scaling), CheckNotNegative(scaling, "beta_fast", scaling.beta_fast),
                CheckNotNegative(scaling, "beta_slow", scaling.beta_slow),
                CheckNotNegative(scaling, "mscale", scaling.mscale),
                CheckNotNegative(scaling, "mscale_all_dim", scaling.mscale_all_dim)});
}

absl::Status CheckDivisors(const RotaryParameters& parameters, absl::string_view name,
                           const std::vector<double>& divisors) {
  const std::int64_t pairs = PairedDim(parameters) / 2;
  if (divisors.empty()) return Missing(parameters.scaling, name);
  if (static_cast<std::int64_t>(divisors.size()) != pairs) {
    return Bad(absl::StrCat(Field(parameters.scaling, name), " has ", divisors.size(),
                            " values, but rotary_dim / 2 = ", pairs, " are needed"));
  }
  for (std::size_t i = 0; i < divisors.size(); ++i) {
    const std::string item = absl::StrCat(name, "[", i, "]");
    if (absl::Status status = CheckPositive(parameters.scaling, item, divisors[i]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckLongRope(const RotaryParameters& parameters) {
  return First({CheckDivisors(parameters, "short_factor", parameters.scaling.short_factor),
                CheckDivisors(parameters, "long_factor", parameters.scaling.long_factor),
                CheckStretch(parameters.scaling)});
}

absl::Status CheckLlama3(const RotaryScaling& scaling) {
  if (!scaling.low_freq_factor.has_value()) return Missing(scaling, "low_freq_factor");
  if (!scaling.high_freq_factor.has_value()) return Missing(scaling, "high_freq_factor");
  if (!scaling.original_max_position_embeddings.has_value()) {
    return Missing(scaling, "original_max_position_embeddings");
  }
  absl::Status status =
      First({CheckPositive(scaling, "low_freq_factor", scaling.low_freq_factor),
             CheckPositive(scaling, "high_freq_factor", scaling.high_freq_factor),
             CheckCount(scaling, "original_max_position_embeddings", scaling.original_max_position_embeddings)});
  if (status.ok() && *scaling.high_freq_factor <= *scaling.low_freq_factor) {
    status = Bad(absl::StrCat(Field(scaling, "high_freq_factor"), " must be greater than low_freq_factor ",
                              *scaling.low_freq_factor, ", got ", *scaling.high_freq_factor));
  }
  return status;
}

absl::Status CheckScaling(const RotaryParameters& parameters, Kind kind) {
  const RotaryScaling& scaling = parameters.scaling;
  switch (kind) {
    case Kind::kDefault: return absl::OkStatus();
    case Kind::kLinear: return CheckFactor(scaling);
    case Kind::kNtk: return First({CheckFactor(scaling), CheckExponent(parameters)});
    case Kind::kDynamic: return First({CheckFactor(scaling), CheckDynamic(scaling), CheckExponent(parameters)});
    case Kind::kYarn: return CheckYarn(parameters);
    case Kind::kLongRope: return CheckLongRope(parameters);
    case Kind::kLlama3: return First({CheckFactor(scaling), CheckLlama3(scaling)});
    case Kind::kProportional: return CheckPositive(scaling, "factor", scaling.factor);
  }
  return absl::OkStatus();
}

absl::Status CheckWidths(const RotaryParameters& parameters) {
  const std::int64_t head_dim = parameters.head_dim;
  const std::int64_t rotary_dim = parameters.rotary_dim.value_or(0);
  if (head_dim < 2 || head_dim > kMaxRotaryHeadDim) {
    return Bad(absl::StrCat("head_dim must be from 2 to ", kMaxRotaryHeadDim, ", got ", head_dim));
  }
  if (rotary_dim < 0 || rotary_dim > head_dim) {
    return Bad(absl::StrCat("rotary_dim must be from 2 to head_dim = ", head_dim, ", got ", rotary_dim));
  }
  if (rotary_dim % 2 != 0) return Bad(absl::StrCat("rotary_dim must be even, got ", rotary_dim));
  if (PairedDim(parameters) % 2 != 0) {
    return Bad(absl::StrCat("head_dim must be even where all of it is turned, got ", head_dim));
  }
  if (!std::isfinite(parameters.theta) || parameters.theta <= 0) {
    return Bad(absl::StrCat("theta must be finite and > 0, got ", parameters.theta));
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<RotaryScalingKind> FindScalingKind(absl::string_view name) {
  const Type* const type = FindType(name);
  return type == nullptr ? std::nullopt : std::optional(type->kind);
}

std::vector<std::string> UnusedFields(const RotaryScaling& scaling) {
  const std::pair<absl::string_view, bool> fields[] = {
      {"factor", scaling.factor.has_value()},
      {"original_max_position_embeddings", scaling.original_max_position_embeddings.has_value()},
      {"low_freq_factor", scaling.low_freq_factor.has_value()},
      {"high_freq_factor", scaling.high_freq_factor.has_value()},
      {"beta_fast", scaling.beta_fast.has_value()},
      {"beta_slow", scaling.beta_slow.has_value()},
      {"attention_factor", scaling.attention_factor.has_value()},
      {"mscale", scaling.mscale.has_value()},
      {"mscale_all_dim", scaling.mscale_all_dim.has_value()},
      {"truncate", scaling.truncate.has_value()},
      {"max_position_embeddings", scaling.max_position_embeddings.has_value()},
      {"short_factor", !scaling.short_factor.empty()},
      {"long_factor", !scaling.long_factor.empty()},
  };
  const Type* const type = FindType(scaling.type);
  std::vector<std::string> unused;
  for (const auto& [name, is_set] : fields) {
    const bool taken =
        type != nullptr && std::find(type->fields.begin(), type->fields.end(), name) != type->fields.end();
    if (is_set && !taken) unused.emplace_back(name);
  }
  return unused;
}

absl::Status CheckRotary(const RotaryParameters& parameters) {
  const Type* const type = FindType(parameters.scaling.type);
  if (type == nullptr) {
    return Bad(absl::StrCat(
        "scaling.type ", Quote(parameters.scaling.type), " is unknown; there are ",
        absl::StrJoin(kTypes, ", ", [](std::string* out, const Type& known) { absl::StrAppend(out, known.name); })));
  }
  if (absl::Status status = CheckWidths(parameters); !status.ok()) return status;
  return CheckScaling(parameters, type->kind);
}

}  // namespace embd::core
