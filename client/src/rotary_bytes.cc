#include "client/src/rotary_bytes.h"

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/src/convert_rotary.h"
#include "client/src/embed_delivery.h"
#include "client/src/message_bytes.h"
#include "proto/wire/frame.h"
#include "proto/wire/rotate_reply.h"

namespace embd::client {
namespace {

// Whether a tensor is a float32 matrix of its own shape.
bool IsTable(const v1::Tensor& tensor) {
  if (tensor.data_type() != v1::DATA_TYPE_FLOAT32 || tensor.shape_size() != 2) return false;
  const std::int64_t rows = tensor.shape(0);
  const std::int64_t pairs = tensor.shape(1);
  const auto count = static_cast<std::int64_t>(tensor.data().size() / sizeof(float));
  if (rows < 0 || pairs < 0 || tensor.data().size() % sizeof(float) != 0) return false;
  return rows == 0 || pairs == 0 ? count == 0 : count % rows == 0 && count / rows == pairs;
}

}  // namespace

absl::StatusOr<grpc::ByteBuffer> ToBytes(const RotateRequest& request) {
  const v1::RotateRequest message = ToProto(request);
  v1::Tensor tensor;
  tensor.set_data_type(static_cast<v1::DataType>(request.vectors_type));
  tensor.mutable_shape()->Add(request.shape.begin(), request.shape.end());
  const std::string header =
      wire::FrameHeader({{message, v1::RotateRequest::kVectorsFieldNumber}, {tensor, v1::Tensor::kDataFieldNumber}},
                        request.vectors.size());
  const std::size_t size = header.size() + request.vectors.size();
  if (size > std::numeric_limits<int>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the request takes ", size, " bytes; a message has at most ", std::numeric_limits<int>::max()));
  }
  const grpc::Slice slices[] = {grpc::Slice(header), grpc::Slice(request.vectors.data(), request.vectors.size())};
  return grpc::ByteBuffer(slices, 2);
}

absl::StatusOr<RotatedVectors> ReadRotated(grpc::ByteBuffer* reply) {
  const auto read = wire::ReadRotateReply(reply);
  if (!read.ok()) return read.status();
  auto memory = Allocate(read->payload.size);
  if (!memory.ok()) return memory.status();
  absl::Status status = wire::CopyPayload(reply, read->payload, std::span(memory->get(), read->payload.size));
  if (!status.ok()) return status;
  return RotatedVectors(FromProto(read->response), *std::move(memory), read->payload.size);
}

absl::StatusOr<RotaryTable> ReadRotaryTable(grpc::ByteBuffer* reply) {
  v1::RotaryTableResponse response;
  if (absl::Status status = FromBytes(reply, &response); !status.ok()) return status;
  v1::Tensor& cos = *response.mutable_cos();
  v1::Tensor& sin = *response.mutable_sin();
  if (!IsTable(cos) || !IsTable(sin) || cos.shape(0) != sin.shape(0) || cos.shape(1) != sin.shape(1)) {
    return absl::InternalError("the server's reply makes no sense: cos and sin are no float32 tables of one shape");
  }
  return RotaryTable(response.attention_factor(), cos.shape(0), cos.shape(1), std::move(*cos.mutable_data()),
                     std::move(*sin.mutable_data()));
}

}  // namespace embd::client
