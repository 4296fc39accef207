#ifndef EMBD_SERVER_SERVICE_EMBED_ANSWER_H_
#define EMBD_SERVER_SERVICE_EMBED_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "embd/v1/embedding.pb.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/core/engine/embed_plan.h"
#include "server/service/backend.h"

// One embedding request -> one reply, in the steps that the calls share.
namespace embd::service {

/// Finds the model and checks the request, of which the bytes of inputs_embeds are taken.
///
/// Errors:
///   FAILED_PRECONDITION  [TABLES_CHANGED] if_checksum is not that of the model found; the message names both
///   Besides those of ModelRegistry::Find before, and of ToEmbedInput and EmbedPlan::Create after.
[[nodiscard]] absl::StatusOr<core::EmbedPlan> PlanEmbed(const Backend& backend, v1::EmbedRequest* request,
                                                        const core::EmbedLimits& limits);

/// Checks what is asked of a model, and logs the first id out of range that one reads as something else. Errors: those
/// of EmbedPlan::Create.
[[nodiscard]] absl::StatusOr<core::EmbedPlan> PlanModel(std::shared_ptr<const core::Model> model,
                                                        core::EmbedInput input, const core::EmbedLimits& limits);

/// Whether composing takes so long that it must not be done on gRPC's own threads.
[[nodiscard]] bool IsLarge(const core::EmbedPlan& plan);

/// Composes rows [first_row, first_row + row_count) to `out`, which has exactly their size; many rows on several
/// threads at once. `interrupted` is asked between blocks of rows; what it says other than OK ends the work, and what
/// is in `out` is unspecified then. Errors: those of `interrupted` and of core::Model::CheckUndamaged (asked at the
/// end).
[[nodiscard]] absl::Status ComposeInto(Backend& backend, const core::EmbedPlan& plan, std::int64_t first_row,
                                       std::int64_t row_count, std::span<std::byte> out, core::Stores stores,
                                       absl::FunctionRef<absl::Status()> interrupted);

/// How a reply of so many bytes should be written.
[[nodiscard]] core::Stores StoresForReply(std::size_t bytes);

/// Admits the reply and composes it. `interrupted` is asked before anything is done and between blocks of rows; what it
/// says other than OK ends the work. Errors: those of ReplyBuffers::Take and of ComposeInto.
[[nodiscard]] absl::StatusOr<ReplyBuffer> ComposeReply(Backend& backend, const core::EmbedPlan& plan,
                                                       absl::FunctionRef<absl::Status()> interrupted);

/// What the reply says besides the elements.
[[nodiscard]] v1::EmbedResponse ResponseWithoutData(const core::EmbedPlan& plan);

/// The encoded EmbedResponse: a header slice, and `buffer` itself as the payload slice; it goes back to its pool when
/// gRPC lets the slice go.
[[nodiscard]] grpc::ByteBuffer FrameReply(const core::EmbedPlan& plan, ReplyBuffer buffer);

/// The encoded EmbedStreamResponse of item `index`.
[[nodiscard]] grpc::ByteBuffer FrameStreamReply(const std::string& request_id, std::int64_t index,
                                                const core::EmbedPlan& plan, ReplyBuffer buffer);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_EMBED_ANSWER_H_
