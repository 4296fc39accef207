#include "client/src/chunked_call.h"

#include "absl/strings/str_cat.h"
#include "client/src/call_context.h"
#include "client/src/own_queue.h"
#include "client/src/request_bytes.h"
#include "client/src/steady_time.h"
#include "proto/wire/status.h"

namespace embd::client {
namespace {

constexpr char kMethod[] = "/embd.v1.EmbeddingService/EmbedChunks";

}  // namespace

absl::StatusOr<EmbedInfo> ChunkedCall::Run() {
  bool started_over = false;
  while (true) {
    const Outcome outcome = CallOnce();
    if (outcome.status.ok()) {
      retry_.CountSuccess();
      return reply_.info();
    }
    if (outcome.from_server && !if_checksum_.empty() && wire::Reason(outcome.status) == "TABLES_CHANGED" &&
        !started_over && reply_.StartOver()) {
      started_over = true;
      if_checksum_.clear();
      continue;
    }
    if (!outcome.pause.has_value()) return outcome.status;
    if_checksum_ = reply_.info().checksum;
    Pause(*outcome.pause, options_.cancel);
    if (retry_.IsTooLate()) return Retry::TooLate();
  }
}

ChunkedCall::Outcome ChunkedCall::CallOnce() {
  const auto bytes = ChunksRequestBytes(
      request_, {.max_chunk_bytes = options_.max_chunk_bytes, .first_row = reply_.next_row()}, if_checksum_);
  if (!bytes.ok()) return {.status = bytes.status()};
  CallOptions options = options_;
  options.timeout = deadline_ - SteadyNow();
  CallContext context(options, *options.timeout, token_);
  context.grpc()->set_initial_metadata_corked(true);  // goes out with the request
  OwnQueue queue;
  const auto call = stub_.PrepareCall(context.grpc(), kMethod, queue.get());
  call->StartCall(nullptr);
  call->WriteLast(*bytes, grpc::WriteOptions(), nullptr);
  bool going = queue.Wait();
  reply_.BeginCall();
  absl::Status refusal;  // of this side
  while (going) {
    grpc::ByteBuffer message;
    call->Read(&message, nullptr);
    going = queue.Wait();
    if (!going) break;
    refusal = reply_.Take(&message);
    if (!refusal.ok()) {
      context.Cancel();
      break;
    }
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  queue.Wait();
  if (!refusal.ok()) return {.status = refusal};
  if (status.ok() && !reply_.complete()) {
    return {.status =
                wire::Senseless(absl::StrCat("it ends behind row ", reply_.next_row(), " of ", reply_.total_rows()))};
  }
  if (reply_.complete() && status.error_code() == grpc::StatusCode::UNAVAILABLE) return {};
  const bool known = reply_.call_has_header() || !wire::Reason(wire::FromGrpcStatus(status)).empty();
  unknown_to_server_ = status.error_code() == grpc::StatusCode::UNIMPLEMENTED && !known;
  return {
      .status = wire::FromGrpcStatus(status), .from_server = true, .pause = retry_.PauseAfter(status, *context.grpc())};
}

}  // namespace embd::client
