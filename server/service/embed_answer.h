#ifndef EMBD_SERVER_SERVICE_EMBED_ANSWER_H_
#define EMBD_SERVER_SERVICE_EMBED_ANSWER_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "embd/v1/embedding.pb.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/core/engine/embed_plan.h"
#include "server/service/backend.h"

// One embedding request -> one reply, in the steps that Embed and EmbedStream share.
namespace embd::service {

/// Finds the model and checks the request, of which the bytes of inputs_embeds are taken. Errors: those of
/// ToEmbedInput, ModelRegistry::Find and EmbedPlan::Create.
[[nodiscard]] absl::StatusOr<core::EmbedPlan> PlanEmbed(const Backend& backend, v1::EmbedRequest* request);

/// Whether composing takes so long that it must not be done on gRPC's own threads.
[[nodiscard]] bool IsLarge(const core::EmbedPlan& plan);

/// Admits the reply and composes it. `interrupted` is asked before anything is done and between blocks of rows; what it
/// says other than OK ends the work. Errors: those of ReplyBuffers::Take, of
/// core::Model::CheckUndamaged (asked at the end) and of `interrupted`.
[[nodiscard]] absl::StatusOr<ReplyBuffer> ComposeReply(Backend& backend, const core::EmbedPlan& plan,
                                                       absl::FunctionRef<absl::Status()> interrupted);

/// The encoded EmbedResponse: a header slice, and `buffer` itself as the payload slice; it goes back to its pool when
/// gRPC lets the slice go.
[[nodiscard]] grpc::ByteBuffer FrameReply(const core::EmbedPlan& plan, ReplyBuffer buffer);

/// The encoded EmbedStreamResponse of item `index`.
[[nodiscard]] grpc::ByteBuffer FrameStreamReply(const std::string& request_id, std::int64_t index,
                                                const core::EmbedPlan& plan, ReplyBuffer buffer);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_EMBED_ANSWER_H_
