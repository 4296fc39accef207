// Hot path: no lock that another request holds for long, no allocation per row, no log line above debug.
#include "server/oip/infer_work.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/oip/infer_parameters.h"
#include "server/oip/input_tensors.h"
#include "server/oip/quote.h"
#include "server/service/embed_answer.h"

namespace embd::oip {
namespace {

constexpr std::size_t kStreamingAlignment = 64;  // of what the kernels write past the caches
constexpr std::size_t kMaxIdBytes = 1024;        // a slow reader holds it, and nothing counts it

core::Stores StoresForRegion(std::span<const std::byte> out) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(out.data()) % kStreamingAlignment == 0;
  return aligned && out.size() >= core::kStreamingBytes ? core::Stores::kStreaming : core::Stores::kCached;
}

// What inputs in shared memory take once they have been read.
std::size_t RegionBytes(const ::inference::ModelInferRequest& request) {
  std::size_t bytes = 0;
  for (const auto& input : request.inputs()) {
    const auto part = ReadRegionPart(input.name(), input.parameters());
    if (part.ok() && part->has_value()) bytes += static_cast<std::size_t>((*part)->byte_size);
  }
  return bytes;
}

// None where the clock does not count as far.
std::optional<std::chrono::steady_clock::time_point> DeadlineOf(const service::Call& call,
                                                                std::chrono::microseconds timeout) {
  const auto longest = std::chrono::steady_clock::time_point::max() - call.started();
  if (timeout > std::chrono::duration_cast<std::chrono::microseconds>(longest)) return std::nullopt;
  return call.started() + timeout;
}

}  // namespace

bool InferWork::PlansLong(const Request& request) {
  return std::any_of(request.inputs().begin(), request.inputs().end(),
                     [](const auto& input) { return input.parameters().contains("shared_memory_region"); });
}

absl::Status InferWork::CheckId(const Request& request) {
  const std::size_t size = request.id().size();
  if (size <= kMaxIdBytes) return absl::OkStatus();
  return core::InvalidArgument("INVALID_OPTION",
                               absl::StrCat("id has ", size, " bytes; at most ", kMaxIdBytes, " are allowed"));
}

absl::StatusOr<InferWork> InferWork::Plan(const Context& context, Request& request, const service::Call& call,
                                          bool in_stream) {
  InferWork work;
  work.in_stream_ = in_stream;
  if (absl::Status status = CheckId(request); !status.ok()) return status;
  auto servable = context.servables.Find(request.model_name(), request.model_version());
  if (!servable.ok()) return servable.status();
  work.servable_ = *std::move(servable);
  const auto parameters = ReadInferParameters(request.parameters(), in_stream);
  if (!parameters.ok()) return parameters.status();
  work.contents_ = parameters->typed_output ? Contents::kTyped : Contents::kRaw;
  work.final_response_ = parameters->final_response;
  if (parameters->timeout.has_value()) work.deadline_ = DeadlineOf(call, *parameters->timeout);
  const auto outputs = ReadOutputs(*work.servable_, *parameters, request);
  if (!outputs.ok()) return outputs.status();
  auto inputs = ReadInputs(context.backend, call, *work.servable_, &request);
  if (!inputs.ok()) return inputs.status();
  if (const std::size_t copied = RegionBytes(request); copied > 0) {
    auto counted = context.backend.buffers->Count(copied);
    if (!counted.ok()) return counted.status();
    work.counted_.emplace(*std::move(counted));
  }
  std::vector<OutputRequest> requests;
  for (const RequestedOutput& output : *outputs) requests.push_back(output.request);
  auto inference = work.servable_->Plan(context.backend, *std::move(inputs), requests);
  if (!inference.ok()) return inference.status();
  work.inference_ = *std::move(inference);
  if (absl::Status status = work.FindTargets(context, call, *outputs); !status.ok()) return status;
  if (absl::Status status = work.CheckReplySize(context); !status.ok()) return status;
  return work;
}

absl::Status InferWork::FindTargets(const Context& context, const service::Call& call,
                                    const std::vector<RequestedOutput>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].part.has_value()) {
      targets_.emplace_back();
      continue;
    }
    RegionPart part = *outputs[i].part;
    const OutputTensor& output = inference_->outputs()[i];
    auto span = FindRegionSpan(context.backend, call, part);
    if (!span.ok()) return span.status();
    if (absl::Status status = CheckUndamaged(part, *span); !status.ok()) return status;
    if (span->bytes.size() < output.byte_size) {
      return core::InvalidArgument(
          "INVALID_OPTION",
          absl::StrCat("shared memory size specified with the request for output ", InQuotes(output.name), " (",
                       part.byte_size, " bytes) should be at least ", output.byte_size, " bytes to hold the results"));
    }
    if (part.offset % DatatypeSize(output.datatype) != 0) {
      return core::InvalidArgument(
          "INVALID_OPTION",
          absl::StrCat("shared_memory_offset ", part.offset, " of output ", InQuotes(output.name),
                       " must be a multiple of an element's ", DatatypeSize(output.datatype), " bytes"));
    }
    span->bytes = span->bytes.first(output.byte_size);
    part.byte_size = static_cast<std::int64_t>(output.byte_size);
    targets_.emplace_back(Target{std::move(part), *std::move(span)});
  }
  return absl::OkStatus();
}

absl::Status InferWork::CheckReplySize(const Context& context) const {
  const auto limit = static_cast<std::size_t>(context.backend.limits.max_response_bytes);
  std::size_t bytes = 0;  // each output is within the limit, so this does not overflow
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (!targets_[i].has_value()) bytes += inference_->outputs()[i].byte_size;
  }
  if (bytes <= limit) return absl::OkStatus();
  return core::Error(absl::StatusCode::kResourceExhausted, "RESPONSE_TOO_LARGE",
                     absl::StrCat("the outputs need ", bytes, " bytes together, which exceeds max_response_bytes ",
                                  limit, " of this server; ask for fewer rows or outputs a call"));
}

absl::StatusOr<ReplyOutput> InferWork::Make(service::Backend& backend, std::size_t index,
                                            absl::FunctionRef<absl::Status()> interrupted) const {
  if (absl::Status status = interrupted(); !status.ok()) return status;
  const OutputTensor& output = inference_->outputs()[index];
  ReplyOutput made;
  made.description.set_name(output.name);
  made.description.set_datatype(std::string(DatatypeName(output.datatype)));
  made.description.mutable_shape()->Assign(output.shape.begin(), output.shape.end());
  const std::optional<Target>& target = targets_[index];
  if (!target.has_value()) {
    auto buffer = backend.buffers->Take(output.byte_size);
    if (!buffer.ok()) return buffer.status();
    const core::Stores stores = service::StoresForReply(output.byte_size);
    absl::Status status = inference_->Compute(backend, index, buffer->bytes(), stores, interrupted);
    if (!status.ok()) return status;
    made.elements.emplace(*std::move(buffer));
    return made;
  }
  const std::span<std::byte> out = target->span.bytes;
  absl::Status status = inference_->Compute(backend, index, out, StoresForRegion(out), interrupted);
  if (status.ok()) status = CheckUndamaged(target->part, target->span);
  if (!status.ok()) return status;
  auto& parameters = *made.description.mutable_parameters();
  parameters["shared_memory_region"].set_string_param(target->part.region);
  parameters["shared_memory_offset"].set_int64_param(target->part.offset);
  parameters["shared_memory_byte_size"].set_int64_param(target->part.byte_size);
  return made;
}

absl::StatusOr<grpc::ByteBuffer> InferWork::Answer(Context& context, const Request& request,
                                                   const std::function<absl::Status()>& interrupted,
                                                   service::PhaseClock* clock) const {
  const auto interrupted_or_late = [&]() -> absl::Status {
    if (deadline_.has_value() && std::chrono::steady_clock::now() > *deadline_) {
      return core::Error(absl::StatusCode::kDeadlineExceeded, "DEADLINE_EXCEEDED",
                         "the timeout of the request has passed");
    }
    return interrupted();
  };
  std::vector<ReplyOutput> outputs;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    auto output = Make(context.backend, i, interrupted_or_late);
    if (!output.ok()) return output.status();
    outputs.push_back(*std::move(output));
  }
  clock->EndCompute();
  ::inference::ModelInferResponse response;
  response.set_model_name(servable_->name());
  response.set_model_version(servable_->version());
  response.set_id(request.id());
  inference_->Describe(&response);
  if (final_response_) (*response.mutable_parameters())["triton_final_response"].set_bool_param(true);
  return in_stream_ ? FrameStreamReply(response, std::move(outputs), contents_)
                    : FrameReply(response, std::move(outputs), contents_);
}

}  // namespace embd::oip
