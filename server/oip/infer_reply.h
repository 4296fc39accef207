#ifndef EMBD_SERVER_OIP_INFER_REPLY_H_
#define EMBD_SERVER_OIP_INFER_REPLY_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grpcpp/support/byte_buffer.h"
#include "inference/grpc_service.pb.h"
#include "server/oip/datatype.h"
#include "server/service/reply_buffers.h"

namespace embd::oip {

/// One output of a reply.
struct ReplyOutput {
  ::inference::ModelInferResponse::InferOutputTensor description;  ///< all but the elements
  std::optional<service::ReplyBuffer> elements;                    ///< unset: they are in shared memory
};

/// How elements travel.
enum class Contents { kRaw, kTyped };

/// The encoding of a ModelInferResponse of which `response` is all but the outputs: slices of header, and the buffers
/// themselves as payload slices, which go back to their pool when gRPC lets them go. Typed elements are FP32 or
/// FP64: a packed field of them is the same bytes.
[[nodiscard]] grpc::ByteBuffer FrameReply(const ::inference::ModelInferResponse& response,
                                          std::vector<ReplyOutput> outputs, Contents contents);

/// The same as the infer_response of a ModelStreamInferResponse.
[[nodiscard]] grpc::ByteBuffer FrameStreamReply(const ::inference::ModelInferResponse& response,
                                                std::vector<ReplyOutput> outputs, Contents contents);

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_INFER_REPLY_H_
