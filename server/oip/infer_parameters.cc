#include "server/oip/infer_parameters.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/oip/quote.h"

namespace embd::oip {
namespace {

using ::inference::InferParameter;

constexpr char kFinalResponse[] = "triton_enable_empty_final_response";
constexpr char kOutputDatatype[] = "output_datatype";

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return core::InvalidArgument("INVALID_OPTION", absl::StrCat(parts...));
}

absl::Status WrongType(const std::string& name, absl::string_view expected) {
  return Invalid("invalid value type for '", name, "' parameter, expected ", expected);
}

absl::StatusOr<bool> ReadBool(const std::string& name, const InferParameter& value) {
  if (value.parameter_choice_case() != InferParameter::kBoolParam) return WrongType(name, "bool_param");
  return value.bool_param();
}

absl::StatusOr<std::chrono::microseconds> ReadTimeout(const std::string& name, const InferParameter& value) {
  if (value.parameter_choice_case() != InferParameter::kInt64Param) return WrongType(name, "int64_param");
  if (value.int64_param() < 0) {
    return Invalid("invalid value for 'timeout', expected microseconds >= 0, got ", value.int64_param());
  }
  return std::chrono::microseconds(value.int64_param());
}

absl::Status CheckPriority(const std::string& name, const InferParameter& value) {
  if (value.parameter_choice_case() == InferParameter::kUint64Param) return absl::OkStatus();
  if (value.parameter_choice_case() != InferParameter::kInt64Param) {
    return WrongType(name, "int64_param or uint64_param");
  }
  if (value.int64_param() >= 0) return absl::OkStatus();
  return Invalid("invalid value for 'priority', expected value >= 0, got ", value.int64_param());
}

absl::StatusOr<Datatype> ReadDatatype(const std::string& name, const InferParameter& value) {
  if (value.parameter_choice_case() != InferParameter::kStringParam) return WrongType(name, "string_param");
  const Datatype datatype = ParseDatatype(value.string_param());
  if (datatype != ::inference::TYPE_FP32 && datatype != ::inference::TYPE_FP16 && datatype != ::inference::TYPE_BF16) {
    return Invalid("invalid value for '", name, "', expected 'FP32', 'FP16' or 'BF16', got ",
                   InQuotes(value.string_param()));
  }
  return datatype;
}

absl::StatusOr<std::int64_t> ReadRegionInteger(const std::string& tensor, const std::string& name,
                                               const InferParameter& value) {
  if (value.parameter_choice_case() == InferParameter::kInt64Param) return value.int64_param();
  return Invalid("invalid value type for '", name, "' parameter for tensor ", InQuotes(tensor),
                 ", expected int64_param");
}

}  // namespace

absl::StatusOr<std::optional<Datatype>> ReadOutputDatatype(const Parameters& parameters) {
  const auto found = parameters.find(kOutputDatatype);
  if (found == parameters.end()) return std::nullopt;
  auto datatype = ReadDatatype(found->first, found->second);
  if (!datatype.ok()) return datatype.status();
  return *datatype;
}

absl::StatusOr<InferParameters> ReadInferParameters(const Parameters& parameters, bool in_stream) {
  InferParameters read;
  auto output_datatype = ReadOutputDatatype(parameters);
  if (!output_datatype.ok()) return output_datatype.status();
  read.output_datatype = *output_datatype;
  for (const auto* const parameter : InOrder(parameters)) {
    const auto& [name, value] = *parameter;
    if (name == "typed_output") {
      auto typed = ReadBool(name, value);
      if (!typed.ok()) return typed.status();
      read.typed_output = *typed;
    } else if (name == "timeout") {
      auto timeout = ReadTimeout(name, value);
      if (!timeout.ok()) return timeout.status();
      if (timeout->count() > 0) read.timeout = *timeout;
    } else if (name == "priority") {
      if (absl::Status status = CheckPriority(name, value); !status.ok()) return status;
    } else if (name == "sequence_id" || name == "sequence_start" || name == "sequence_end") {
      return Invalid("'", name, "' is not supported: no model keeps the state of a sequence");
    } else if (in_stream && name == kFinalResponse) {
      auto wanted = ReadBool(name, value);
      if (!wanted.ok()) return wanted.status();
      read.final_response = *wanted;
    } else if (absl::StartsWith(name, "triton_")) {
      return Invalid("parameter keys starting with 'triton_' are reserved; got ", InQuotes(name), ", allowed is only '",
                     kFinalResponse, "' in ModelStreamInfer");
    }
  }
  return read;
}

absl::StatusOr<std::optional<RegionPart>> ReadRegionPart(const std::string& tensor, const Parameters& parameters) {
  constexpr char kRegion[] = "shared_memory_region";
  constexpr char kOffset[] = "shared_memory_offset";
  constexpr char kByteSize[] = "shared_memory_byte_size";
  const auto region = parameters.find(kRegion), offset = parameters.find(kOffset), size = parameters.find(kByteSize);
  if (region == parameters.end()) {
    for (const auto& alone : {offset, size}) {
      if (alone == parameters.end()) continue;
      return Invalid("'", alone->first, "' can not be specified without '", kRegion, "' parameter for tensor ",
                     InQuotes(tensor));
    }
    return std::nullopt;
  }
  if (region->second.parameter_choice_case() != InferParameter::kStringParam) {
    return Invalid("invalid value type for '", kRegion, "' parameter for tensor ", InQuotes(tensor),
                   ", expected string_param");
  }
  if (size == parameters.end()) {
    return Invalid("'", kByteSize, "' must be specified along with '", kRegion, "' parameter for tensor ",
                   InQuotes(tensor));
  }
  RegionPart part = {.region = region->second.string_param()};
  if (offset != parameters.end()) {
    auto value = ReadRegionInteger(tensor, kOffset, offset->second);
    if (!value.ok()) return value.status();
    part.offset = *value;
  }
  auto value = ReadRegionInteger(tensor, kByteSize, size->second);
  if (!value.ok()) return value.status();
  part.byte_size = *value;
  return part;
}

}  // namespace embd::oip
