#ifndef EMBD_CLIENT_FAKE_BATCH_H_
#define EMBD_CLIENT_FAKE_BATCH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "embd/client/embedding.h"
#include "embd/client/fake_transport.h"

namespace embd::client::fake {

/// How many cells a batch has, and where their vectors go in the reply.
struct Batch {
  std::int64_t rows = 0;
  std::int64_t tokens = 0;  ///< T of a reply with padding; the longest row at least
  std::int64_t cells = 0;   ///< of the request, which has no padding where the batch is ragged
  bool ragged = false;
  bool packed = false;
  bool padded_left = false;
  std::vector<std::int64_t> row_lengths = {};  ///< of a ragged batch

  [[nodiscard]] std::int64_t Length(std::int64_t row) const {
    return ragged ? row_lengths[static_cast<std::size_t>(row)] : tokens;
  }

  [[nodiscard]] std::vector<std::int64_t> ReplyShape(std::int64_t dim) const;
};

/// What of the composition a part has.
[[nodiscard]] bool WithToken(const EmbedRequest& request);
[[nodiscard]] bool WithPosition(const FakeModel& model, const EmbedRequest& request);

/// Reads counts and shapes, and checks that they agree.
///
/// Errors:
///   INVALID_ARGUMENT  [INVALID_SHAPE] they do not; [INVALID_OPTION] inputs_embeds of no float type.
[[nodiscard]] absl::StatusOr<Batch> ReadBatch(const FakeModel& model, const EmbedRequest& request);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_BATCH_H_
