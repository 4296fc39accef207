#ifndef EMBD_CLIENT_FAKE_EMBED_CHECKS_H_
#define EMBD_CLIENT_FAKE_EMBED_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/fake/batch.h"
#include "embd/client/diagnostics.h"

namespace embd::client::fake {

/// A request that a server would answer.
struct CheckedRequest {
  Batch batch;
  std::vector<std::int64_t> position_rows = {};  ///< as PositionRowsOf says
  std::vector<std::string> warnings = {};
};

/// Checks what a server checks, in its order. A limit of 0 is none.
///
/// Errors: as EmbeddingService.Embed of the .proto.
[[nodiscard]] absl::StatusOr<CheckedRequest> CheckEmbed(const FakeModel& model, const EmbedRequest& request,
                                                        const ServerLimits& limits);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_EMBED_CHECKS_H_
