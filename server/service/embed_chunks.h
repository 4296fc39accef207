#ifndef EMBD_SERVER_SERVICE_EMBED_CHUNKS_H_
#define EMBD_SERVER_SERVICE_EMBED_CHUNKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "embd/v1/embedding.pb.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/core/engine/embed_plan.h"
#include "server/service/backend.h"
#include "server/service/phase_clock.h"
#include "server/service/reply_buffers.h"

// One EmbedChunksRequest -> its messages, one at a time.
namespace embd::service {

/// The rows of a request, cut into messages. Each is composed, when it is asked for, in memory of its own, which counts
/// until gRPC lets it go. What is kept of a long request counts as well, until this goes away: a slow reader holds it.
///
/// A message has the whole rows that fit the bytes asked for, and at least one. Where none are asked for it is just
/// short of 128 KiB, header and all: that much stays in the caches on its way to the socket. It never has more bytes
/// than the server's bound on bytes in flight.
///
/// Thread safety: thread-compatible.
class EmbedChunks {
 public:
  static constexpr std::int64_t kMaxChunkBytes = std::int64_t{1} << 30;

  /// Plans as PlanEmbed does, which takes the bytes of inputs_embeds out of `request`, but without a limit on the
  /// reply's size.
  ///
  /// Errors: those of PlanEmbed, and
  ///   INVALID_ARGUMENT    [INVALID_OPTION] max_chunk_bytes or first_row out of range; unique or output_target
  ///   RESOURCE_EXHAUSTED  [RESPONSE_TOO_LARGE] a single row has more than kMaxChunkBytes; those of ReplyBuffers::Count
  [[nodiscard]] static absl::StatusOr<EmbedChunks> Plan(const Backend& backend, v1::EmbedChunksRequest* request);

  [[nodiscard]] const core::EmbedPlan& plan() const { return plan_; }

  /// Whether composing a message takes so long that it must not be done on gRPC's own threads.
  [[nodiscard]] bool AreLarge() const;

  /// Whether all messages are made; there is at least one.
  [[nodiscard]] bool done() const { return done_; }

  /// Makes the next message. `interrupted` is asked before anything is done, and between blocks of rows. `clock` is
  /// told when the rows are composed, and when the message is framed.
  ///
  /// Errors: those of ReplyBuffers::Take and of ComposeInto; no further message is to be asked for then.
  [[nodiscard]] absl::StatusOr<grpc::ByteBuffer> Next(Backend& backend, absl::FunctionRef<absl::Status()> interrupted,
                                                      PhaseClock* clock);

 private:
  EmbedChunks(core::EmbedPlan plan, std::optional<CountedBytes> counted, std::int64_t first_row,
              std::size_t chunk_bytes, bool keep_short);

  /// How many rows the next message has, if its other fields take that many bytes.
  [[nodiscard]] std::int64_t NextRows(std::size_t header_bytes) const;

  core::EmbedPlan plan_;
  std::optional<CountedBytes> counted_;  // what the plan keeps; unset: not worth it
  std::int64_t next_row_;
  std::size_t chunk_bytes_;
  bool keep_short_;  // as a whole, with the header
  bool first_ = true;
  bool done_ = false;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_EMBED_CHUNKS_H_
