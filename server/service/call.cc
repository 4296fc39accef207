#include "server/service/call.h"

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "proto/wire/status.h"
#include "server/core/error.h"
#include "server/observability/log.h"
#include "server/observability/trace_context.h"

namespace embd::service {
namespace {

constexpr std::size_t kLargeRequestBytes = std::size_t{16} << 10;

using Metadata = std::multimap<grpc::string_ref, grpc::string_ref>;

// The value of that key, the first where there are several; empty where there is none.
absl::string_view Find(const Metadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? absl::string_view() : absl::string_view(found->second.data(), found->second.size());
}

}  // namespace

absl::Status Call::Enter(std::int64_t request_bytes) {
  absl::Status status = gate_.Enter(method_, *context_, request_bytes);
  entered_ = status.ok();
  request_bytes_ = request_bytes;
  return status;
}

void Call::Leave() {
  if (std::exchange(entered_, false)) gate_.Leave(request_bytes_);
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
  Leave();
  if (wire::NeverFits(told)) context_->AddTrailingMetadata("grpc-retry-pushback-ms", "-1");
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

absl::Status Decode(const grpc::ByteBuffer& bytes, std::int64_t max_bytes, google::protobuf::MessageLite* message) {
  const auto size = static_cast<std::int64_t>(bytes.Length());
  if (size > max_bytes) {
    return core::Error(absl::StatusCode::kResourceExhausted, "REQUEST_TOO_LARGE",
                       absl::StrCat("the request has ", size, " bytes, which exceeds max_request_bytes ", max_bytes,
                                    " of this server; split the batch"));
  }
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
