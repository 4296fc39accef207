#include "client/fake/rotate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/fake/narrow.h"
#include "client/fake/rotary_frequencies.h"
#include "embd/client/error.h"

namespace embd::client::fake {
namespace {

constexpr std::int64_t kPositions = std::int64_t{1} << 24;

absl::Status Invalid(absl::string_view reason, absl::string_view message) {
  return ErrorWithReason(absl::StatusCode::kInvalidArgument, reason, message);
}

absl::Status TooLarge(absl::string_view reason, absl::string_view message) {
  return ErrorWithReason(absl::StatusCode::kResourceExhausted, reason, message);
}

bool Exceeds(std::int64_t value, std::int64_t limit) { return limit > 0 && value > limit; }

// The model's parameters, or none, below those given.
absl::StatusOr<RotaryParameters> Choose(const FakeModel* model, const std::string& layer_type,
                                        const std::optional<RotaryParameters>& given) {
  if (model == nullptr && !given) return Invalid("INVALID_OPTION", "name a model, or give parameters");
  RotaryParameters chosen = model != nullptr && model->rotary ? *model->rotary : RotaryParameters{};
  if (!layer_type.empty()) {
    if (model == nullptr) return Invalid("INVALID_OPTION", "layer_type needs a model");
    const auto found = model->rotary_layer_types.find(layer_type);
    if (found == model->rotary_layer_types.end()) {
      return Invalid("INVALID_OPTION", absl::StrCat("no layer_type \"", layer_type, "\""));
    }
    chosen = found->second;
  } else if (model != nullptr && !model->rotary && !given) {
    return ErrorWithReason(absl::StatusCode::kFailedPrecondition, "NO_ROTARY",
                           absl::StrCat("model \"", model->name, "\" has no rotary encoding"));
  }
  if (!given) return chosen;
  if (given->pairing < RotaryPairing::kUnspecified || given->pairing > RotaryPairing::kInterleaved) {
    return Invalid("UNKNOWN_ENUM_VALUE", absl::StrCat("pairing ", static_cast<int>(given->pairing), " is unknown"));
  }
  if (given->head_dim != 0) chosen.head_dim = given->head_dim;
  if (given->rotary_dim) chosen.rotary_dim = given->rotary_dim;
  if (given->theta) chosen.theta = given->theta;
  if (given->scaling) chosen.scaling = given->scaling;
  if (given->pairing != RotaryPairing::kUnspecified) chosen.pairing = given->pairing;
  return chosen;
}

// The exact value of a float16, from its fields.
float FromHalf(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return static_cast<float>(fraction != 0 ? std::nan("") : sign * HUGE_VAL);
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return static_cast<float>(sign * magnitude);
}

float ElementAt(const RotateRequest& request, std::size_t index) {
  const auto read = [&](auto value) {
    std::memcpy(&value, request.vectors.data() + index * sizeof value, sizeof value);
    return value;
  };
  switch (request.vectors_type) {
    case DataType::kFloat16: return FromHalf(read(std::uint16_t{}));
    case DataType::kBfloat16: return std::bit_cast<float>(std::uint32_t{read(std::uint16_t{})} << 16);
    case DataType::kFloat64: return static_cast<float>(read(double{}));
    default: return read(float{});
  }
}

// Where the positions of a tensor are counted.
struct Axes {
  std::int64_t batch = 1;
  std::int64_t tokens = 0;
  std::int64_t after = 1;  ///< vectors of one step along the sequence axis
  std::int64_t vectors = 0;
};

absl::StatusOr<Axes> FindAxes(const RotateRequest& request, const RotaryParameters& parameters) {
  const auto rank = static_cast<std::int64_t>(request.shape.size());
  std::int64_t count = 1;
  for (const std::int64_t extent : request.shape) {
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) count = -1;
    if (count < 0) break;
  }
  const std::int64_t size = DataTypeSize(request.vectors_type);
  if (rank < 2 || count < 0 || static_cast<std::int64_t>(request.vectors.size()) / size != count ||
      static_cast<std::int64_t>(request.vectors.size()) % size != 0) {
    return Invalid("INVALID_SHAPE", absl::StrCat(request.vectors.size(), " bytes are no tensor of the shape given"));
  }
  if (request.shape.back() != parameters.head_dim) {
    return Invalid("INVALID_SHAPE", absl::StrCat("the last axis is not head_dim ", parameters.head_dim));
  }
  const std::int64_t asked = request.sequence_axis.value_or(rank == 2 ? 0 : 1);
  const std::int64_t axis = asked < 0 ? asked + rank : asked;
  if (axis < 0 || axis > rank - 2)
    return Invalid("INVALID_SHAPE", absl::StrCat("sequence_axis ", asked, " does not fit"));
  Axes axes = {.batch = axis == 0 ? 1 : request.shape[0], .tokens = request.shape[static_cast<std::size_t>(axis)]};
  if (axes.tokens < 1) return Invalid("INVALID_SHAPE", "sequence_length must be >= 1, got 0");
  for (std::int64_t i = axis + 1; i < rank - 1; ++i) axes.after *= request.shape[static_cast<std::size_t>(i)];
  axes.vectors = parameters.head_dim == 0 ? 0 : count / parameters.head_dim;
  return axes;
}

absl::Status CheckOptions(const RotateRequest& request, const RotaryParameters& parameters) {
  if (request.output_layout < RotaryOutput::kUnspecified || request.output_layout > RotaryOutput::kSplit) {
    return Invalid("UNKNOWN_ENUM_VALUE", "output_layout is unknown");
  }
  if (request.output_type < DataType::kUnspecified || request.output_type > DataType::kUint32) {
    return Invalid("UNKNOWN_ENUM_VALUE", "output_type is unknown");
  }
  if (request.output_type > DataType::kBfloat16) return Invalid("INVALID_OPTION", "output_type is no output type");
  if (request.vectors_type < DataType::kFloat32 || request.vectors_type > DataType::kFloat64) {
    return Invalid("INVALID_OPTION", absl::StrCat(DataTypeName(request.vectors_type), " is no type of vectors"));
  }
  if (request.output_layout == RotaryOutput::kSplit &&
      (parameters.pairing != RotaryPairing::kInterleaved || request.inverse)) {
    return Invalid("INVALID_OPTION", "SPLIT goes with INTERLEAVED, and not with inverse");
  }
  if (request.scaling_length.value_or(1) < 1 || request.scaling_length.value_or(1) > kPositions) {
    return Invalid("INVALID_OPTION", absl::StrCat("scaling_length must be from 1 to ", kPositions));
  }
  return absl::OkStatus();
}

absl::Status CheckLimits(const RotateRequest& request, const Axes& axes, const ServerLimits& limits) {
  if (Exceeds(axes.batch, limits.max_batch_size) || Exceeds(axes.tokens, limits.max_sequence_length)) {
    return TooLarge("REQUEST_TOO_LARGE", "the vectors exceed max_batch_size or max_sequence_length");
  }
  const std::int64_t element = request.output_type <= DataType::kFloat32 ? 4 : 2;
  if (Exceeds(axes.vectors * request.shape.back() * element, limits.max_response_bytes)) {
    return TooLarge("RESPONSE_TOO_LARGE",
                    absl::StrCat("the reply exceeds max_response_bytes ", limits.max_response_bytes));
  }
  return absl::OkStatus();
}

// The positions of all cells (b, t).
absl::StatusOr<std::vector<std::int64_t>> PositionsOf(const RotateRequest& request, const Axes& axes) {
  const auto& ids = request.position_ids;
  const auto& offsets = request.position_offsets;
  if (!ids.empty() && !offsets.empty())
    return Invalid("INVALID_OPTION", "position_ids and position_offsets exclude each other");
  const auto id_count = static_cast<std::int64_t>(ids.size());
  const auto offset_count = static_cast<std::int64_t>(offsets.size());
  if ((id_count != 0 && id_count != axes.tokens && id_count != axes.batch * axes.tokens) ||
      (offset_count > 1 && offset_count != axes.batch)) {
    return Invalid("INVALID_SHAPE", "there are neither as many positions as columns, nor as cells or rows");
  }
  std::vector<std::int64_t> positions;
  for (std::int64_t b = 0; b < axes.batch; ++b) {
    for (std::int64_t t = 0; t < axes.tokens; ++t) {
      std::int64_t position = t;
      if (offset_count > 0)
        position += std::clamp(offsets[static_cast<std::size_t>(offset_count == 1 ? 0 : b)], -kPositions, kPositions);
      if (id_count > 0) position = ids[static_cast<std::size_t>(id_count == axes.tokens ? t : b * axes.tokens + t)];
      if (position < (offset_count > 0 ? t : 0) || position >= kPositions) {
        return Invalid("POSITION_OUT_OF_RANGE", absl::StrCat("position ", position, " is outside [0, 2^24 - 1]"));
      }
      positions.push_back(position);
    }
  }
  return positions;
}

// One vector, of `head_dim` components at `x`, turned into `y`.
void TurnOne(const RotateRequest& request, const RotaryParameters& parameters, const Frequencies& frequencies,
             std::int64_t position, std::size_t first, float* y) {
  const std::size_t pairs = frequencies.per_pair.size();
  const bool interleaved = parameters.pairing == RotaryPairing::kInterleaved;
  const bool split = !interleaved || request.output_layout == RotaryOutput::kSplit;
  const double scale = request.inverse ? 1 / frequencies.attention_factor : frequencies.attention_factor;
  for (std::size_t i = 0; i < static_cast<std::size_t>(parameters.head_dim); ++i) y[i] = ElementAt(request, first + i);
  for (std::size_t i = 0; i < pairs; ++i) {
    const double angle = static_cast<double>(position) * frequencies.per_pair[i];
    const auto cos = static_cast<float>(scale * std::cos(angle));
    const auto sin = static_cast<float>(scale * std::sin(request.inverse ? -angle : angle));
    const float a = ElementAt(request, first + (interleaved ? 2 * i : i));
    const float b = ElementAt(request, first + (interleaved ? 2 * i + 1 : pairs + i));
    y[split ? i : 2 * i] = a * cos - b * sin;
    y[split ? pairs + i : 2 * i + 1] = a * sin + b * cos;
  }
}

}  // namespace

absl::StatusOr<RotatedVectors> Rotate(const FakeModel* model, const RotateRequest& request,
                                      const ServerLimits& limits) {
  auto parameters = Choose(model, request.layer_type, request.parameters);
  if (!parameters.ok()) return parameters.status();
  if (absl::Status status = CheckOptions(request, *parameters); !status.ok()) return status;
  if (parameters->head_dim == 0 && !request.shape.empty()) parameters->head_dim = request.shape.back();
  const auto axes = FindAxes(request, *parameters);
  if (!axes.ok()) return axes.status();
  if (absl::Status status = CheckLimits(request, *axes, limits); !status.ok()) return status;
  const auto positions = PositionsOf(request, *axes);
  if (!positions.ok()) return positions.status();

  auto frequencies = FrequenciesOf(*parameters, 1);
  if (!frequencies.ok()) return frequencies.status();
  std::vector<float> turned(static_cast<std::size_t>(axes->vectors * parameters->head_dim));
  std::int64_t row = -1;
  for (std::int64_t v = 0; v < axes->vectors; ++v) {
    const std::int64_t b = v / (axes->vectors / axes->batch);
    const std::int64_t t = v / axes->after % axes->tokens;
    if (b != row) {
      row = b;
      const auto begin = positions->begin() + b * axes->tokens;
      const std::int64_t length = request.scaling_length.value_or(*std::max_element(begin, begin + axes->tokens) + 1);
      frequencies = FrequenciesOf(*parameters, length);
      if (!frequencies.ok()) return frequencies.status();
    }
    const auto first = static_cast<std::size_t>(v * parameters->head_dim);
    TurnOne(request, *parameters, *frequencies, (*positions)[static_cast<std::size_t>(b * axes->tokens + t)], first,
            turned.data() + first);
  }
  const DataType type = request.output_type == DataType::kUnspecified ? DataType::kFloat32 : request.output_type;
  const std::size_t byte_size = turned.size() * static_cast<std::size_t>(DataTypeSize(type));
  auto data = std::make_unique<std::byte[]>(byte_size);
  Narrow(turned, type, data.get());
  return RotatedVectors({.model = model != nullptr ? model->name : "",
                         .model_version = model != nullptr ? model->version : "",
                         .attention_factor = frequencies->attention_factor,
                         .data_type = type,
                         .shape = request.shape},
                        std::move(data), byte_size);
}

absl::StatusOr<RotaryTable> MakeRotaryTable(const FakeModel* model, const RotaryTableRequest& request,
                                            const ServerLimits& limits) {
  const auto parameters = Choose(model, request.layer_type, request.parameters);
  if (!parameters.ok()) return parameters.status();
  if (request.length < 1) return Invalid("INVALID_SHAPE", absl::StrCat("length must be >= 1, got ", request.length));
  if (Exceeds(request.length, limits.max_sequence_length)) {
    return TooLarge("REQUEST_TOO_LARGE",
                    absl::StrCat("length exceeds max_sequence_length ", limits.max_sequence_length));
  }
  if (request.first_position < 0 || request.first_position > kPositions - request.length) {
    return Invalid("POSITION_OUT_OF_RANGE", "first_position leaves [0, 2^24 - 1]");
  }
  if (request.scaling_length.value_or(1) < 1 || request.scaling_length.value_or(1) > kPositions) {
    return Invalid("INVALID_OPTION", absl::StrCat("scaling_length must be from 1 to ", kPositions));
  }
  const auto frequencies =
      FrequenciesOf(*parameters, request.scaling_length.value_or(request.first_position + request.length));
  if (!frequencies.ok()) return frequencies.status();
  const auto pairs = static_cast<std::int64_t>(frequencies->per_pair.size());
  if (Exceeds(request.length * pairs * 8, limits.max_response_bytes)) {
    return TooLarge("RESPONSE_TOO_LARGE",
                    absl::StrCat("the reply exceeds max_response_bytes ", limits.max_response_bytes));
  }
  std::string cos;
  std::string sin;
  const auto append = [](double value, std::string& out) {
    const auto narrow = static_cast<float>(value);
    out.append(reinterpret_cast<const char*>(&narrow), sizeof narrow);
  };
  for (std::int64_t row = 0; row < request.length; ++row) {
    for (const double frequency : frequencies->per_pair) {
      const double angle = static_cast<double>(request.first_position + row) * frequency;
      append(frequencies->attention_factor * std::cos(angle), cos);
      append(frequencies->attention_factor * std::sin(angle), sin);
    }
  }
  return RotaryTable(frequencies->attention_factor, request.length, pairs, std::move(cos), std::move(sin));
}

}  // namespace embd::client::fake
