#include "client/src/reply_sink.h"

#include "absl/strings/str_cat.h"

namespace embd::client {

absl::Status PlacedReply::Begin(const EmbedInfo& info, std::size_t byte_size) {
  const auto out = place_(info, byte_size);
  if (!out.ok()) return out.status();
  if (out->size() != byte_size) {
    return absl::InternalError(
        absl::StrCat("memory of ", out->size(), " bytes was placed for a tensor of ", byte_size));
  }
  out_ = *out;
  return absl::OkStatus();
}

absl::Status PlacedReply::Take(grpc::ByteBuffer* bytes, const wire::Payload& payload) {
  const std::span<std::byte> out = out_.subspan(taken_, payload.size);
  taken_ += payload.size;
  return wire::CopyPayload(bytes, payload, out);
}

bool PlacedReply::StartOver() {
  taken_ = 0;
  return true;
}

absl::Status VisitedReply::Begin(const EmbedInfo& info, std::size_t /*byte_size*/) {
  info_ = info;
  return absl::OkStatus();
}

absl::Status VisitedReply::Take(grpc::ByteBuffer* bytes, const wire::Payload& payload) {
  shown_ = shown_ || payload.size > 0;
  return wire::VisitPayload(bytes, payload, [this](std::span<const std::byte> piece) { return visit_(info_, piece); });
}

}  // namespace embd::client
