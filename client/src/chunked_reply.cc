#include "client/src/chunked_reply.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/src/convert.h"
#include "embd/client/error.h"
#include "proto/wire/chunk_reply.h"

namespace embd::client {
namespace {

using wire::Senseless;

absl::Status OtherShape() {
  return ErrorWithReason(
      absl::StatusCode::kFailedPrecondition, "TABLES_CHANGED",
      "the model's tables changed while the call was under way, and its result has another shape now");
}

}  // namespace

absl::Status ChunkedReply::Take(grpc::ByteBuffer* bytes) {
  const auto read = wire::ReadChunkReply(bytes);
  if (!read.ok()) return read.status();
  const v1::EmbedChunksResponse& message = read->message;
  if (complete_) return Senseless("a message comes after the last one");
  if (message.has_header() == call_has_header_) {
    return Senseless(call_has_header_ ? "it has a second header" : "its first message has no header");
  }
  call_has_header_ = true;
  if (message.has_header()) {
    if (absl::Status status = TakeHeader(message.header()); !status.ok()) return status;
  }
  if (absl::Status status = CheckBlock(message, read->payload.size); !status.ok()) return status;
  if (absl::Status status = sink_->Take(bytes, read->payload); !status.ok()) return status;
  next_row_ += message.row_count();
  complete_ = message.last();
  return absl::OkStatus();
}

absl::Status ChunkedReply::TakeHeader(const v1::EmbedChunksHeader& header) {
  EmbedInfo info = FromProto(header);
  if (!begun_) {
    begun_ = true;
    total_rows_ = header.total_rows();
    total_bytes_ = header.total_bytes();
    info_ = std::move(info);
    return sink_->Begin(info_, static_cast<std::size_t>(total_bytes_));
  }
  const bool same_shape =
      info.shape == info_.shape && info.data_type == info_.data_type && info.row_lengths == info_.row_lengths;
  if (!other_tables_ && (!same_shape || info.checksum != info_.checksum)) {
    return Senseless("it goes on with other tables than it began with");
  }
  if (!same_shape) return OtherShape();
  other_tables_ = false;
  info_ = std::move(info);
  return absl::OkStatus();
}

absl::Status ChunkedReply::CheckBlock(const v1::EmbedChunksResponse& message, std::size_t payload_size) const {
  const std::int64_t left = total_rows_ - next_row_;
  const std::int64_t rows = message.row_count();
  const std::int64_t row_bytes = total_rows_ == 0 ? 0 : total_bytes_ / total_rows_;
  if (message.first_row() != next_row_ || rows > left || (rows == 0 && left > 0) || message.last() != (rows == left)) {
    return Senseless(absl::StrCat(rows, message.last() ? " last" : "", " rows from row ", message.first_row(),
                                  " on, where row ", next_row_, " of ", total_rows_, " is the next"));
  }
  if (payload_size != static_cast<std::size_t>(rows * row_bytes)) {
    return Senseless(absl::StrCat(payload_size, " bytes are no ", rows, " rows of ", row_bytes, " bytes"));
  }
  return absl::OkStatus();
}

bool ChunkedReply::StartOver() {
  if (complete_ || !sink_->StartOver()) return false;
  other_tables_ = true;
  next_row_ = 0;
  return true;
}

}  // namespace embd::client
