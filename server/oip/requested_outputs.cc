#include "server/oip/requested_outputs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/oip/quote.h"

namespace embd::oip {
namespace {

using Message = ::inference::ModelInferRequest::InferRequestedOutputTensor;

constexpr char kClassification[] = "classification";

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return core::InvalidArgument("INVALID_OPTION", absl::StrCat(parts...));
}

absl::StatusOr<Datatype> ChooseDatatype(const TensorSpec& spec, std::optional<Datatype> wanted) {
  if (!wanted.has_value()) return spec.datatypes.front();
  if (std::find(spec.datatypes.begin(), spec.datatypes.end(), *wanted) != spec.datatypes.end()) return *wanted;
  return Invalid("inference output '", spec.name, "' has no datatype '", DatatypeName(*wanted), "'");
}

absl::Status CheckTyped(const RequestedOutput& output) {
  const Datatype datatype = output.request.datatype;
  if (datatype == ::inference::TYPE_FP32 || datatype == ::inference::TYPE_FP64) return absl::OkStatus();
  return Invalid("typed_output: '", DatatypeName(datatype), "' elements of output '", output.request.spec->name,
                 "' have no typed form here; ask for FP32, or for raw contents");
}

absl::StatusOr<RequestedOutput> Read(const Servable& servable, const InferParameters& parameters,
                                     const Message& message) {
  const std::vector<TensorSpec>& specs = servable.signature().outputs;
  const auto spec =
      std::find_if(specs.begin(), specs.end(), [&](const TensorSpec& each) { return each.name == message.name(); });
  if (spec == specs.end()) {
    return Invalid("unexpected inference output ", InQuotes(message.name()), " for model ", InQuotes(servable.name()));
  }
  if (message.parameters().count(kClassification) != 0) {
    return Invalid("'", kClassification, "' is not supported for output ", InQuotes(message.name()));
  }
  auto own = ReadOutputDatatype(message.parameters());
  if (!own.ok()) return own.status();
  auto datatype = ChooseDatatype(*spec, own->has_value() ? *own : parameters.output_datatype);
  if (!datatype.ok()) return datatype.status();
  auto part = ReadRegionPart(message.name(), message.parameters());
  if (!part.ok()) return part.status();
  return RequestedOutput{.request = {.spec = &*spec, .datatype = *datatype}, .part = *std::move(part)};
}

absl::StatusOr<std::vector<RequestedOutput>> Defaults(const Servable& servable, const InferParameters& parameters) {
  std::vector<RequestedOutput> outputs;
  for (const TensorSpec& spec : servable.signature().outputs) {
    if (spec.optional) continue;
    auto datatype = ChooseDatatype(spec, parameters.output_datatype);
    if (!datatype.ok()) return datatype.status();
    outputs.push_back({.request = {.spec = &spec, .datatype = *datatype}, .part = std::nullopt});
  }
  return outputs;
}

absl::StatusOr<std::vector<RequestedOutput>> Named(const Servable& servable, const InferParameters& parameters,
                                                   const ::inference::ModelInferRequest& request) {
  std::vector<RequestedOutput> outputs;
  for (const Message& message : request.outputs()) {
    auto output = Read(servable, parameters, message);
    if (!output.ok()) return output.status();
    for (const RequestedOutput& other : outputs) {
      if (other.request.spec != output->request.spec) continue;
      return Invalid("output ", InQuotes(message.name()), " already exists in request");
    }
    outputs.push_back(*std::move(output));
  }
  return outputs;
}

}  // namespace

absl::StatusOr<std::vector<RequestedOutput>> ReadOutputs(const Servable& servable, const InferParameters& parameters,
                                                         const ::inference::ModelInferRequest& request) {
  auto outputs = request.outputs().empty() ? Defaults(servable, parameters) : Named(servable, parameters, request);
  if (!outputs.ok() || !parameters.typed_output) return outputs;
  for (const RequestedOutput& output : *outputs) {
    if (output.part.has_value()) continue;
    if (absl::Status status = CheckTyped(output); !status.ok()) return status;
  }
  return outputs;
}

}  // namespace embd::oip
