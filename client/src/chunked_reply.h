#ifndef EMBD_CLIENT_SRC_CHUNKED_REPLY_H_
#define EMBD_CLIENT_SRC_CHUNKED_REPLY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "client/src/reply_sink.h"
#include "embd/v1/embedding.pb.h"
#include "grpcpp/support/byte_buffer.h"

namespace embd::client {

/// Puts a tensor together from the messages of EmbedChunks: of one call, or of several that follow each other where one
/// breaks off. Trusts nothing: each block must be the next one and have the size that the header promised.
///
/// Thread safety: not thread-safe.
class ChunkedReply {
 public:
  /// `sink` outlives this.
  explicit ChunkedReply(ReplySink* sink) : sink_(sink) {}

  /// Begins with the messages of a new call, which goes on at `next_row`.
  void BeginCall() { call_has_header_ = false; }

  /// Takes the next message of the call.
  ///
  /// Errors:
  ///   INTERNAL             the message makes no sense, alone or behind those before.
  ///   FAILED_PRECONDITION  [TABLES_CHANGED] the tensor begins again and has another shape now.
  ///   Besides those of the sink.
  [[nodiscard]] absl::Status Take(grpc::ByteBuffer* message);

  /// Whether the whole tensor, and what says that it is, has come.
  [[nodiscard]] bool complete() const { return complete_; }
  /// Whether this call has brought a message.
  [[nodiscard]] bool call_has_header() const { return call_has_header_; }
  /// Where a call has to go on.
  [[nodiscard]] std::int64_t next_row() const { return next_row_; }
  [[nodiscard]] std::int64_t total_rows() const { return total_rows_; }
  /// What the header says; empty before there is one.
  [[nodiscard]] const EmbedInfo& info() const { return info_; }

  /// Whether the rows may come again from the first one, also from other tables; then they do.
  [[nodiscard]] bool StartOver();

 private:
  [[nodiscard]] absl::Status TakeHeader(const v1::EmbedChunksHeader& header);
  [[nodiscard]] absl::Status CheckBlock(const v1::EmbedChunksResponse& message, std::size_t payload_size) const;

  ReplySink* const sink_;
  EmbedInfo info_;
  bool begun_ = false;
  bool call_has_header_ = false;
  bool other_tables_ = false;  // are allowed in the next header
  bool complete_ = false;
  std::int64_t total_rows_ = 0;
  std::int64_t total_bytes_ = 0;
  std::int64_t next_row_ = 0;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_CHUNKED_REPLY_H_
