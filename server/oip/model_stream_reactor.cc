// Hot path: no lock that another request holds for long, no allocation per row, no log line above debug.
#include "server/oip/model_stream_reactor.h"

#include <functional>
#include <string>

#include "proto/wire/status.h"
#include "server/oip/infer_work.h"
#include "server/service/pooled_stream.h"

namespace embd::oip {
namespace {

// What the stream of ModelStreamInfer carries, for a service::PooledStream.
struct InferItem {
  using Request = ::inference::ModelInferRequest;
  using Context = oip::Context;
  using Work = InferWork;

  static const std::string& ModelName(const Request& request) { return request.model_name(); }

  static absl::Status CheckEncoding(const grpc::ByteBuffer& request) { return InferWork::CheckEncoding(request); }
  static bool PlansLong(const Request& request) { return InferWork::PlansLong(request); }

  static absl::Status Check(Request* request) {
    absl::Status status = InferWork::CheckId(*request);
    if (!status.ok()) request->clear_id();
    return status;
  }

  static absl::StatusOr<InferWork> Plan(const Context& context, Request& request, const service::Call& call) {
    return InferWork::Plan(context, request, call, /*in_stream=*/true);
  }

  static absl::StatusOr<grpc::ByteBuffer> Answer(Context& context, const InferWork& work, const Request& request,
                                                 std::int64_t /*index*/,
                                                 const std::function<absl::Status()>& interrupted,
                                                 service::PhaseClock* clock) {
    return work.Answer(context, request, interrupted, clock);
  }

  static grpc::ByteBuffer Refuse(const Request& request, std::int64_t /*index*/, const absl::Status& status) {
    ::inference::ModelStreamInferResponse item;
    item.set_error_message(wire::ToRequestStatus(status).message());  // which is cut to what a status may be
    item.mutable_infer_response()->set_id(request.id());
    return service::Encode(item);
  }
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* AnswerModelStream(Context* context,
                                                                               grpc::CallbackServerContext* call) {
  return new service::PooledStream<InferItem>(context, service::Method::kModelStreamInfer, call);
}

}  // namespace embd::oip
