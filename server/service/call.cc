#include "server/service/call.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "proto/wire/status.h"
#include "server/core/error.h"
#include "server/observability/log.h"
#include "server/observability/trace_context.h"
#include "server/service/decoded_bytes.h"

namespace embd::service {
namespace {

constexpr std::size_t kLargeRequestBytes = std::size_t{16} << 10;
constexpr std::int64_t kWeighedBytes = 1024;  // what a smaller request decodes to is no more than a call takes anyway

using Metadata = std::multimap<grpc::string_ref, grpc::string_ref>;

// The value of that key, the first where there are several; empty where there is none.
absl::string_view Find(const Metadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? absl::string_view() : absl::string_view(found->second.data(), found->second.size());
}

}  // namespace

absl::Status Call::Enter(std::int64_t request_bytes) {
  absl::Status status = gate_.Enter(method_, *context_);
  const MethodInfo& info = InfoOf(method_);
  // Whether the server lives must be told when it is full, too.
  if (!status.ok() || info.type == MethodType::kBidiStream || info.role == Role::kAnyone) return status;
  return EnterItem(request_bytes);
}

absl::Status Call::EnterItem(std::int64_t request_bytes) {
  absl::Status status = gate_.TakeRoom(request_bytes);
  has_room_ = status.ok();
  if (has_room_) request_bytes_ = request_bytes;
  return status;
}

void Call::LeaveItem() {
  const std::int64_t bytes = std::exchange(request_bytes_, 0);
  std::exchange(has_room_, false) ? gate_.GiveBackRoom(bytes) : gate_.RemoveBytes(bytes);
}

absl::Status Call::Interrupted() const {
  if (std::chrono::system_clock::now() > context_->deadline()) {
    return core::Error(absl::StatusCode::kDeadlineExceeded, "DEADLINE_EXCEEDED", "the call's deadline has passed");
  }
  if (cancelled_.load(std::memory_order_relaxed)) {
    return core::Error(absl::StatusCode::kCancelled, "CANCELLED", "the caller has cancelled the call");
  }
  return absl::OkStatus();
}

bool Call::IsLocal() const {
  const std::string peer = context_->peer();
  return absl::StartsWith(peer, "unix:") || absl::StartsWith(peer, "unix-abstract:");
}

bool Call::MayStall() const {
  return context_->deadline() - gate_.limits().max_stall > std::chrono::system_clock::now();
}

observability::CallNames Call::Names() const {
  const auto& metadata = context_->client_metadata();
  observability::CallNames names;
  if (const absl::string_view given = Find(metadata, "x-request-id"); observability::IsRequestId(given)) {
    names.request_id = std::string(given);
  } else {
    if (made_request_id_.empty()) made_request_id_ = observability::NewRequestId();
    names.request_id = made_request_id_;
  }
  if (const auto trace = observability::ParseTraceparent(Find(metadata, "traceparent"))) {
    names.trace_id = std::string(trace->trace_id);
    names.span_id = std::string(trace->span_id);
  }
  return names;
}

absl::Status Call::Hide(const absl::Status& status) const {
  if (status.code() != absl::StatusCode::kInternal && status.code() != absl::StatusCode::kUnknown) return status;
  const observability::CallNames names = Names();
  observability::LogInternalError(names, NameOf(method_), status);
  return core::Error(absl::StatusCode::kInternal, "INTERNAL",
                     absl::StrCat("internal error; the server's log has it as request_id ", names.request_id));
}

grpc::Status Call::End(const absl::Status& status) {
  const absl::Status told = Hide(status);
  gate_.CountEnd(method_, told.code(), std::chrono::steady_clock::now() - started_);
  LeaveItem();
  if (wire::NeverFits(told)) {
    context_->AddTrailingMetadata("grpc-retry-pushback-ms", "-1");
  } else if (const auto retry_after_ms = wire::RetryAfterMs(told); retry_after_ms.has_value()) {
    context_->AddTrailingMetadata("grpc-retry-pushback-ms", absl::StrCat(*retry_after_ms));
  }
  return wire::ToGrpcStatus(told);
}

void Call::Log(absl::string_view model, std::int64_t batch_size, std::int64_t sequence_length,
               std::int64_t request_bytes, std::int64_t reply_bytes, const absl::Status& status) const {
  if (!observability::LogsRequests()) return;
  const auto elapsed = std::chrono::steady_clock::now() - last_;
  const std::string peer = context_->peer();
  observability::LogRequest({.names = Names(),
                             .rpc = NameOf(method_),
                             .peer = peer,
                             .model = model,
                             .batch_size = batch_size,
                             .sequence_length = sequence_length,
                             .request_bytes = request_bytes,
                             .reply_bytes = reply_bytes,
                             .microseconds = std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count(),
                             .status = status});
}

bool IsLarge(const grpc::ByteBuffer& request) { return request.Length() > kLargeRequestBytes; }

absl::Status Call::CountDecoded(const grpc::ByteBuffer& bytes, std::int64_t max_bytes,
                                const google::protobuf::Descriptor& type) {
  const auto size = static_cast<std::int64_t>(bytes.Length());
  if (size <= kWeighedBytes) return absl::OkStatus();
  const std::int64_t decoded = DecodedBytes(bytes, type);
  if (decoded <= size) return absl::OkStatus();
  const std::int64_t most = std::max(gate_.limits().max_request_bytes, max_bytes);
  if (decoded > most) {
    return core::Error(
        absl::StatusCode::kResourceExhausted, "REQUEST_TOO_LARGE",
        absl::StrCat("the ", size, " bytes of the request take ", decoded,
                     " bytes of memory once they are decoded, which exceeds max_request_bytes_in_flight ", most,
                     " of this server; split the request"));
  }
  absl::Status status = gate_.AddBytes(decoded - size, request_bytes_);
  if (status.ok()) request_bytes_ += decoded - size;
  return status;
}

absl::Status Call::Decode(const grpc::ByteBuffer& bytes, std::int64_t max_bytes, google::protobuf::Message* message) {
  const auto size = static_cast<std::int64_t>(bytes.Length());
  if (size > max_bytes) {
    return core::Error(absl::StatusCode::kResourceExhausted, "REQUEST_TOO_LARGE",
                       absl::StrCat("the request has ", size, " bytes, which exceeds max_request_bytes ", max_bytes,
                                    " of this server; split the batch"));
  }
  if (absl::Status status = CountDecoded(bytes, max_bytes, *message->GetDescriptor()); !status.ok()) return status;
  grpc::ByteBuffer view = bytes;  // shares the slices; the reader takes a non-const buffer
  grpc::ProtoBufferReader reader(&view);
  if (!reader.status().ok() || !message->ParseFromZeroCopyStream(&reader)) {
    return core::InvalidArgument(
        "MALFORMED_REQUEST", absl::StrCat("the ", size, " bytes of the request are no valid ", message->GetTypeName(),
                                          " (or a string in it is not UTF-8)"));
  }
  return absl::OkStatus();
}

grpc::ByteBuffer Encode(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return {&slice, 1};
}

}  // namespace embd::service
