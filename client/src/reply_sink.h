#ifndef EMBD_CLIENT_SRC_REPLY_SINK_H_
#define EMBD_CLIENT_SRC_REPLY_SINK_H_

#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "embd/client/transport.h"
#include "grpcpp/support/byte_buffer.h"
#include "proto/wire/payload_scan.h"

namespace embd::client {

/// Where the elements of one reply go, whole or in parts.
///
/// Thread safety: not thread-safe.
class ReplySink {
 public:
  virtual ~ReplySink() = default;

  /// Called once, before all elements, with what the reply says of them. Errors: why they are not wanted.
  [[nodiscard]] virtual absl::Status Begin(const EmbedInfo& info, std::size_t byte_size) = 0;

  /// Takes the next elements, which stand in `bytes`; no more in all than `Begin` was told of.
  [[nodiscard]] virtual absl::Status Take(grpc::ByteBuffer* bytes, const wire::Payload& payload) = 0;

  /// Whether the elements may begin again from the first one; then they do.
  [[nodiscard]] virtual bool StartOver() = 0;
};

/// Elements that are copied to where a Transport::Place says.
class PlacedReply final : public ReplySink {
 public:
  /// `place` outlives this.
  explicit PlacedReply(const Transport::Place& place) : place_(place) {}

  [[nodiscard]] absl::Status Begin(const EmbedInfo& info, std::size_t byte_size) override;
  [[nodiscard]] absl::Status Take(grpc::ByteBuffer* bytes, const wire::Payload& payload) override;
  [[nodiscard]] bool StartOver() override;

 private:
  const Transport::Place& place_;
  std::span<std::byte> out_;
  std::size_t taken_ = 0;
};

/// Elements that are shown to a Transport::Visit where they were received.
class VisitedReply final : public ReplySink {
 public:
  /// `visit` outlives this.
  explicit VisitedReply(const Transport::Visit& visit) : visit_(visit) {}

  [[nodiscard]] absl::Status Begin(const EmbedInfo& info, std::size_t byte_size) override;
  [[nodiscard]] absl::Status Take(grpc::ByteBuffer* bytes, const wire::Payload& payload) override;
  [[nodiscard]] bool StartOver() override { return !shown_; }

 private:
  const Transport::Visit& visit_;
  EmbedInfo info_;
  bool shown_ = false;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_REPLY_SINK_H_
