// Hot path: no lock that another request holds for long, no allocation per row, no log line above debug.
#include "server/service/embed_stream_reactor.h"

#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/wire/status.h"
#include "server/core/error.h"
#include "server/service/embed_answer.h"
#include "server/service/embed_work.h"
#include "server/service/pooled_stream.h"

namespace embd::service {
namespace {

// What the stream of EmbedStream carries, for a PooledStream.
struct EmbedItem {
  using Request = v1::EmbedStreamRequest;
  using Context = Backend;
  using Work = EmbedWork;

  static const std::string& ModelName(const Request& request) { return request.request().model(); }

  static absl::Status CheckEncoding(const grpc::ByteBuffer& /*request*/) { return absl::OkStatus(); }
  static bool PlansLong(const Request& /*request*/) { return false; }

  static absl::Status Check(Request* request) {
    constexpr std::size_t kMaxRequestIdBytes = 1024;
    const std::size_t size = request->request_id().size();
    if (size <= kMaxRequestIdBytes) return absl::OkStatus();
    request->clear_request_id();
    return core::InvalidArgument("INVALID_OPTION", absl::StrCat("request_id has ", size, " bytes; at most ",
                                                                kMaxRequestIdBytes, " are allowed"));
  }

  static absl::StatusOr<EmbedWork> Plan(const Backend& backend, Request& request, const Call& call) {
    return EmbedWork::Plan(backend, *request.mutable_request(), call);
  }

  static absl::StatusOr<grpc::ByteBuffer> Answer(Backend& backend, const EmbedWork& work, const Request& request,
                                                 std::int64_t index, const std::function<absl::Status()>& interrupted,
                                                 PhaseClock* clock) {
    return work.AnswerItem(backend, request.request_id(), index, interrupted, clock);
  }

  static grpc::ByteBuffer Refuse(const Request& request, std::int64_t index, const absl::Status& status) {
    v1::EmbedStreamResponse item;
    item.set_request_id(request.request_id());
    item.set_index(index);
    *item.mutable_error() = wire::ToRequestStatus(status);
    return Encode(item);
  }
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* AnswerEmbedStream(Backend* backend,
                                                                               grpc::CallbackServerContext* context) {
  return new PooledStream<EmbedItem>(backend, Method::kEmbedStream, context);
}

}  // namespace embd::service
