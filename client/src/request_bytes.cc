#include "client/src/request_bytes.h"

#include <string>

#include "client/src/convert.h"
#include "client/src/message_bytes.h"
#include "proto/wire/frame.h"

namespace embd::client {
namespace {

using wire::FrameHeader;
constexpr int kInputsEmbeds = v1::EmbedRequest::kInputsEmbedsFieldNumber;
constexpr int kData = v1::Tensor::kDataFieldNumber;

}  // namespace

absl::StatusOr<grpc::ByteBuffer> RequestBytes(const EmbedRequest& request) {
  const v1::EmbedRequest message = ToProto(request);
  if (!request.inputs_embeds.has_value()) return ToBytes(message);
  const InputTensor& tensor = *request.inputs_embeds;
  const v1::Tensor head = HeadToProto(tensor);
  return JoinBytes(FrameHeader({{message, kInputsEmbeds}, {head, kData}}, tensor.bytes.size()), tensor.bytes);
}

absl::StatusOr<grpc::ByteBuffer> ChunksRequestBytes(const EmbedRequest& request, const Blocks& blocks,
                                                    const std::string& if_checksum) {
  v1::EmbedChunksRequest message;
  message.set_max_chunk_bytes(blocks.max_chunk_bytes);
  message.set_first_row(blocks.first_row);
  v1::EmbedRequest inner = ToProto(request);
  if (!if_checksum.empty()) inner.set_if_checksum(if_checksum);
  if (!request.inputs_embeds.has_value()) {
    message.mutable_request()->Swap(&inner);
    return ToBytes(message);
  }
  const InputTensor& tensor = *request.inputs_embeds;
  const v1::Tensor head = HeadToProto(tensor);
  return JoinBytes(
      FrameHeader({{message, v1::EmbedChunksRequest::kRequestFieldNumber}, {inner, kInputsEmbeds}, {head, kData}},
                  tensor.bytes.size()),
      tensor.bytes);
}

absl::StatusOr<grpc::ByteBuffer> StreamRequestBytes(const EmbedRequest& request, absl::string_view request_id) {
  v1::EmbedStreamRequest message;
  message.set_request_id(std::string(request_id));
  if (!request.inputs_embeds.has_value()) {
    *message.mutable_request() = ToProto(request);
    return ToBytes(message);
  }
  const InputTensor& tensor = *request.inputs_embeds;
  const v1::EmbedRequest inner = ToProto(request);
  const v1::Tensor head = HeadToProto(tensor);
  return JoinBytes(
      FrameHeader({{message, v1::EmbedStreamRequest::kRequestFieldNumber}, {inner, kInputsEmbeds}, {head, kData}},
                  tensor.bytes.size()),
      tensor.bytes);
}

}  // namespace embd::client
