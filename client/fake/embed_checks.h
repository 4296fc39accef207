#ifndef EMBD_CLIENT_FAKE_EMBED_CHECKS_H_
#define EMBD_CLIENT_FAKE_EMBED_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/fake/batch.h"
#include "embd/client/diagnostics.h"

namespace embd::client::fake {

/// The distinct ids of a `unique` request in the order of their first cells, and the number of each cell's id.
struct Distinct {
  std::vector<std::int64_t> ids = {};
  std::vector<std::int64_t> inverse = {};

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(ids.size()); }
};

/// A request that a server would answer.
struct CheckedRequest {
  Batch batch;
  std::vector<std::int64_t> position_rows = {};  ///< as PositionRowsOf says
  std::vector<std::string> warnings = {};
  Distinct distinct = {};  ///< empty unless the request is `unique`
};

/// Checks what a server checks, in its order. A limit of 0 is none.
///
/// Errors: as EmbeddingService.Embed of the .proto.
[[nodiscard]] absl::StatusOr<CheckedRequest> CheckEmbed(const FakeModel& model, const EmbedRequest& request,
                                                        const ServerLimits& limits);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_EMBED_CHECKS_H_
