#ifndef EMBD_CLIENT_FAKE_EMBED_CHECKS_H_
#define EMBD_CLIENT_FAKE_EMBED_CHECKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "embd/client/diagnostics.h"
#include "embd/client/embedding.h"
#include "embd/client/fake_transport.h"

namespace embd::client::fake {

/// Checks what a server checks, in its order. A limit of 0 is none.
///
/// Errors: as EmbeddingService.Embed of the .proto.
[[nodiscard]] absl::Status CheckEmbed(const FakeModel& model, const EmbedRequest& request, const ServerLimits& limits);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_EMBED_CHECKS_H_
