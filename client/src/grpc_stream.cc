#include "client/src/grpc_stream.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "client/src/convert.h"
#include "client/src/embed_delivery.h"
#include "client/src/request_bytes.h"
#include "proto/wire/embed_reply.h"
#include "proto/wire/status.h"

namespace embd::client {
namespace {

absl::Status Ended() { return absl::AbortedError("the stream has ended; Receive returns why"); }

absl::StatusOr<Embedding> ReadEmbedding(grpc::ByteBuffer* bytes, const wire::StreamReply& reply,
                                        bool may_be_elsewhere) {
  if (reply.item.response().has_written() && !may_be_elsewhere) {
    return wire::Senseless("it says that the tensor was written somewhere else");
  }
  const std::size_t size = reply.payload.size;
  auto memory = Allocate(size);
  if (!memory.ok()) return memory.status();
  if (absl::Status status = wire::CopyPayload(bytes, reply.payload, {memory->get(), size}); !status.ok()) return status;
  return Embedding(FromProto(reply.item.response()), *std::move(memory), size);
}

}  // namespace

GrpcStream::GrpcStream(grpc::GenericStub* stub, const CallOptions& options, BearerToken* token)
    : context_(options, /*default_timeout=*/absl::InfiniteDuration(), token),
      call_(stub->PrepareCall(context_.grpc(), "/embd.v1.EmbeddingService/EmbedStream", &queue_)) {}

GrpcStream::~GrpcStream() {
  if (!final_.has_value()) {
    Cancel();
    Finish();
  }
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

absl::Status GrpcStream::Start() {
  call_->StartCall(&start_);
  if (Wait(&start_)) return absl::OkStatus();
  Finish();
  return final_->ok() ? Ended() : *final_;
}

absl::Status GrpcStream::Send(const EmbedRequest& request, absl::string_view request_id) {
  if (sending_closed_) return absl::FailedPreconditionError("requests cannot be sent after CloseSending");
  const auto bytes = StreamRequestBytes(request, request_id);
  if (!bytes.ok()) return bytes.status();
  if (request.output_target.has_value()) has_targets_ = true;
  call_->Write(*bytes, &write_);
  return Wait(&write_) ? absl::OkStatus() : Ended();
}

absl::Status GrpcStream::CloseSending() {
  if (sending_closed_) return absl::OkStatus();
  sending_closed_ = true;
  call_->WritesDone(&write_);
  return Wait(&write_) ? absl::OkStatus() : Ended();
}

absl::StatusOr<std::optional<StreamItem>> GrpcStream::Receive() {
  grpc::ByteBuffer bytes;
  if (!final_.has_value()) {
    call_->Read(&bytes, &read_);
    if (!Wait(&read_)) Finish();
  }
  if (final_.has_value()) {
    if (!final_->ok()) return *final_;
    return std::nullopt;
  }
  const auto reply = wire::ReadStreamReply(&bytes);
  if (!reply.ok()) {
    Cancel();
    Finish();
    final_ = reply.status();
    return reply.status();
  }
  StreamItem item = {.request_id = reply->item.request_id(), .index = reply->item.index()};
  if (reply->item.has_error()) {
    absl::Status error = wire::FromRequestStatus(reply->item.error());
    item.result = error.ok() ? absl::InternalError("the server refused a request with the code OK") : std::move(error);
  } else {
    item.result = ReadEmbedding(&bytes, *reply, has_targets_);
  }
  return item;
}

void GrpcStream::Finish() {
  grpc::Status status;
  call_->Finish(&status, &finish_);
  Wait(&finish_);
  final_ = wire::FromGrpcStatus(status);
}

bool GrpcStream::Wait(Operation* operation) {
  const MutexLock lock(&mutex_);
  while (!operation->done) {
    if (polling_) {
      changed_.Wait(&mutex_);
      continue;
    }
    polling_ = true;
    mutex_.Unlock();
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
    mutex_.Lock();
    polling_ = false;
    *static_cast<Operation*>(tag) = {.done = true, .ok = ok};
    changed_.NotifyAll();
  }
  operation->done = false;
  return operation->ok;
}

}  // namespace embd::client
