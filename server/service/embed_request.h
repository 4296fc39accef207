#ifndef EMBD_SERVER_SERVICE_EMBED_REQUEST_H_
#define EMBD_SERVER_SERVICE_EMBED_REQUEST_H_

#include "absl/status/statusor.h"
#include "embd/v1/embedding.pb.h"
#include "server/core/engine/embed_input.h"

namespace embd::service {

/// What the request asks of the engine; checked only as far as the wire goes (enums, one source of ids, raw ids' type
/// and size). Shape and ranges are the engine's to check. The bytes of inputs_embeds are taken out of the request.
///
/// Errors:
///   INVALID_ARGUMENT  [UNKNOWN_ENUM_VALUE]; [INVALID_OPTION] two sources of ids or vectors, or a type that does not
///   fit;
///                     [INVALID_SHAPE] a tensor's shape or size, or a shape that contradicts batch_size
[[nodiscard]] absl::StatusOr<core::EmbedInput> ToEmbedInput(v1::EmbedRequest* request);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_EMBED_REQUEST_H_
