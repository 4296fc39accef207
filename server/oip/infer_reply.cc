// Hot path: no lock that another request holds for long, no allocation per row, no log line above debug.
#include "server/oip/infer_reply.h"

#include "grpcpp/support/slice.h"
#include "proto/wire/frame.h"
#include "server/oip/datatype.h"
#include "server/service/payload_slice.h"

namespace embd::oip {
namespace {

using ::inference::InferTensorContents;
using ::inference::ModelInferResponse;
using Slices = std::vector<grpc::Slice>;

int PackedField(const std::string& datatype) {
  return ParseDatatype(datatype) == ::inference::TYPE_FP64 ? InferTensorContents::kFp64ContentsFieldNumber
                                                           : InferTensorContents::kFp32ContentsFieldNumber;
}

// Adds what stands before a payload, and the payload.
void Add(const std::string& header, service::ReplyBuffer elements, Slices* slices) {
  slices->emplace_back(header);
  slices->push_back(service::PayloadSlice(std::move(elements)));
}

// All descriptions come first; then the elements of each output, a field each: an empty one where they are in shared
// memory, since clients find an output's entry by its place.
Slices RawSlices(ModelInferResponse response, std::vector<ReplyOutput> outputs) {
  Slices slices;
  for (ReplyOutput& output : outputs) *response.add_outputs() = std::move(output.description);
  const ModelInferResponse nothing;
  const ModelInferResponse* fields = &response;
  for (ReplyOutput& output : outputs) {
    if (!output.elements.has_value()) {
      slices.emplace_back(wire::FrameHeader({{*fields, ModelInferResponse::kRawOutputContentsFieldNumber}}, 0));
      fields = &nothing;
      continue;
    }
    const std::size_t size = output.elements->bytes().size();
    Add(wire::FrameHeader({{*fields, ModelInferResponse::kRawOutputContentsFieldNumber}}, size),
        *std::move(output.elements), &slices);
    fields = &nothing;
  }
  return slices;
}

Slices TypedSlices(const ModelInferResponse& response, std::vector<ReplyOutput> outputs) {
  Slices slices = {grpc::Slice(response.SerializeAsString())};
  const ModelInferResponse nothing;
  const InferTensorContents contents;
  for (ReplyOutput& output : outputs) {
    if (!output.elements.has_value()) {
      ModelInferResponse described;
      *described.add_outputs() = std::move(output.description);
      slices.emplace_back(described.SerializeAsString());
      continue;
    }
    const int field = PackedField(output.description.datatype());
    const std::size_t size = output.elements->bytes().size();
    Add(wire::FrameHeader({{nothing, ModelInferResponse::kOutputsFieldNumber},
                           {output.description, ModelInferResponse::InferOutputTensor::kContentsFieldNumber},
                           {contents, field}},
                          size),
        *std::move(output.elements), &slices);
  }
  return slices;
}

Slices SlicesOf(const ModelInferResponse& response, std::vector<ReplyOutput> outputs, Contents contents) {
  return contents == Contents::kTyped ? TypedSlices(response, std::move(outputs))
                                      : RawSlices(response, std::move(outputs));
}

}  // namespace

grpc::ByteBuffer FrameReply(const ModelInferResponse& response, std::vector<ReplyOutput> outputs, Contents contents) {
  const Slices slices = SlicesOf(response, std::move(outputs), contents);
  return {slices.data(), slices.size()};
}

grpc::ByteBuffer FrameStreamReply(const ModelInferResponse& response, std::vector<ReplyOutput> outputs,
                                  Contents contents) {
  Slices slices = SlicesOf(response, std::move(outputs), contents);
  std::size_t size = 0;
  for (const grpc::Slice& slice : slices) size += slice.size();
  const ::inference::ModelStreamInferResponse nothing;
  slices.insert(slices.begin(),
                grpc::Slice(wire::FrameHeader(
                    {{nothing, ::inference::ModelStreamInferResponse::kInferResponseFieldNumber}}, size)));
  return {slices.data(), slices.size()};
}

}  // namespace embd::oip
