#include "client/src/grpc_transport.h"

#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "client/src/call_context.h"
#include "client/src/chunked_call.h"
#include "client/src/convert.h"
#include "client/src/convert_rotary.h"
#include "client/src/convert_tables.h"
#include "client/src/convert_training.h"
#include "client/src/embed_delivery.h"
#include "client/src/grpc_stream.h"
#include "client/src/health.h"
#include "client/src/message_bytes.h"
#include "client/src/own_queue.h"
#include "client/src/request_bytes.h"
#include "client/src/rotary_bytes.h"
#include "client/src/steady_time.h"
#include "grpcpp/alarm.h"
#include "proto/wire/status.h"

namespace embd::client {
namespace {

constexpr char kEmbedMethod[] = "/embd.v1.EmbeddingService/Embed";

// One call of EmbedAsync; deletes itself when it is done. Uses nothing of the transport, which may be gone by then.
class AsyncEmbed final : public Completion {
 public:
  AsyncEmbed(grpc::GenericStub stub, std::shared_ptr<OpenQueue> queue, std::shared_ptr<RetryBudget> budget,
             std::shared_ptr<BearerToken> token, const CallOptions& options, absl::Time deadline, int max_attempts,
             const grpc::ByteBuffer& request, std::optional<SharedMemoryTarget> target, Transport::Place place,
             Transport::EmbedDone done)
      : stub_(std::move(stub)),
        queue_(std::move(queue)),
        budget_(std::move(budget)),
        token_(std::move(token)),
        options_(options),
        deadline_(deadline),
        retry_(max_attempts, deadline, options.cancel, budget_.get()),
        request_(request),
        target_(std::move(target)),
        place_(std::move(place)),
        done_(std::move(done)) {}

  // Also told when a pause is over.
  void Start() {
    const bool started = queue_->Use([this](grpc::CompletionQueue* queue) {
      options_.timeout = deadline_ - SteadyNow();
      call_.reset();  // it lies in memory of the call
      context_.emplace(options_, *options_.timeout, token_.get());
      call_ = stub_.PrepareUnaryCall(context_->grpc(), kEmbedMethod, request_, queue);
      call_->StartCall();
      call_->Finish(&reply_, &status_, static_cast<Completion*>(this));
    });
    if (!started) End();
  }

  void Done(bool) override {
    if (std::exchange(pausing_, false)) {
      if (!retry_.IsTooLate()) return Start();
      status_ = grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded");
      return End();
    }
    if (status_.ok()) {
      retry_.CountSuccess();
      return End();
    }
    const auto pause = retry_.PauseAfter(status_, *context_->grpc());
    pausing_ = pause.has_value() && queue_->Use([this, &pause](grpc::CompletionQueue* queue) {
      alarm_.Set(queue, absl::ToChronoTime(absl::Now() + *pause), static_cast<Completion*>(this));
    });
    if (!pausing_) End();
  }

 private:
  void End() {
    const std::unique_ptr<AsyncEmbed> self(this);
    PlacedReply sink(place_);
    done_(status_.ok() ? Deliver(&reply_, target_, &sink) : wire::FromGrpcStatus(status_));
  }

  grpc::GenericStub stub_;
  const std::shared_ptr<OpenQueue> queue_;
  const std::shared_ptr<RetryBudget> budget_;
  const std::shared_ptr<BearerToken> token_;
  CallOptions options_;
  const absl::Time deadline_;
  Retry retry_;
  const grpc::ByteBuffer request_;
  const std::optional<SharedMemoryTarget> target_;
  Transport::Place place_;
  Transport::EmbedDone done_;
  grpc::Alarm alarm_;
  bool pausing_ = false;
  std::optional<CallContext> context_;
  grpc::ByteBuffer reply_;
  grpc::Status status_ = {grpc::StatusCode::CANCELLED, "the client is going away"};
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> call_;
};

}  // namespace

GrpcTransport::GrpcTransport(std::shared_ptr<grpc::Channel> channel, std::shared_ptr<grpc::Channel> any_state,
                             absl::Duration timeout, int max_attempts, std::shared_ptr<BearerToken> token)
    : stub_(std::move(channel)),
      any_state_stub_(std::move(any_state)),
      timeout_(timeout),
      max_attempts_(max_attempts),
      token_(std::move(token)) {}

absl::StatusOr<grpc::ByteBuffer> GrpcTransport::CallAtMost(grpc::GenericStub* stub, int max_attempts,
                                                           const char* method, const grpc::ByteBuffer& request,
                                                           const CallOptions& options) {
  const absl::Time deadline = SteadyNow() + options.timeout.value_or(timeout_);
  Retry retry(max_attempts, deadline, options.cancel, budget_.get());
  CallOptions attempt = options;
  while (true) {
    attempt.timeout = deadline - SteadyNow();
    CallContext context(attempt, timeout_, token_.get());
    OwnQueue queue;
    grpc::ByteBuffer reply;
    grpc::Status status;
    const auto call = stub->PrepareUnaryCall(context.grpc(), method, request, queue.get());
    call->StartCall();
    call->Finish(&reply, &status, nullptr);
    queue.Wait();
    if (status.ok()) {
      retry.CountSuccess();
      return reply;
    }
    const auto pause = retry.PauseAfter(status, *context.grpc());
    if (!pause.has_value()) return wire::FromGrpcStatus(status);
    Pause(*pause, options.cancel);
    if (retry.IsTooLate()) return Retry::TooLate();
  }
}

absl::StatusOr<grpc::ByteBuffer> GrpcTransport::Call(const char* method, const grpc::ByteBuffer& request,
                                                     const CallOptions& options) {
  return CallAtMost(&stub_, max_attempts_, method, request, options);
}

template <typename Response, typename Request>
absl::StatusOr<Response> GrpcTransport::CallWithMessages(const char* method, const Request& request,
                                                         const CallOptions& options) {
  const auto bytes = ToBytes(request);
  if (!bytes.ok()) return bytes.status();
  auto reply = CallAtMost(&any_state_stub_, max_attempts_, method, *bytes, options);
  if (!reply.ok()) return reply.status();
  Response response;
  if (absl::Status status = FromBytes(&*reply, &response); !status.ok()) return status;
  return response;
}

template <typename Response, typename Request>
absl::StatusOr<Response> GrpcTransport::AskWithMessages(const char* method, const Request& request,
                                                        const CallOptions& options) {
  const auto bytes = ToBytes(request);
  if (!bytes.ok()) return bytes.status();
  auto reply = Call(method, *bytes, options);
  if (!reply.ok()) return reply.status();
  Response response;
  if (absl::Status status = FromBytes(&*reply, &response); !status.ok()) return status;
  return response;
}

template <typename Response, typename Request>
absl::StatusOr<Response> GrpcTransport::ChangeWithMessages(const char* method, const Request& request,
                                                           const CallOptions& options) {
  const auto bytes = ToBytes(request);
  if (!bytes.ok()) return bytes.status();
  auto reply = CallAtMost(&any_state_stub_, 1, method, *bytes, options);
  if (!reply.ok()) return reply.status();
  Response response;
  if (absl::Status status = FromBytes(&*reply, &response); !status.ok()) return status;
  return response;
}

absl::StatusOr<EmbedInfo> GrpcTransport::EmbedUnary(ReplySink* sink, const EmbedRequest& request,
                                                    const CallOptions& options) {
  const auto bytes = RequestBytes(request);
  if (!bytes.ok()) return bytes.status();
  auto reply = Call(kEmbedMethod, *bytes, options);
  if (!reply.ok()) return reply.status();
  return Deliver(&*reply, request.output_target, sink);
}

absl::StatusOr<EmbedInfo> GrpcTransport::EmbedTo(ReplySink* sink, const EmbedRequest& request,
                                                 const CallOptions& options) {
  absl::StatusOr<EmbedInfo> info = absl::UnknownError("");
  if (!choice_.UseChunks(request, options)) {
    info = EmbedUnary(sink, request, options);
  } else {
    const absl::Time deadline = SteadyNow() + options.timeout.value_or(timeout_);
    ChunkedCall call(&stub_, request, options, deadline, max_attempts_, budget_.get(), token_.get(), sink);
    info = call.Run();
    if (call.is_unknown_to_server() && options.chunks == Chunks::kAuto) {
      choice_.ServerHasNoChunks();
      CallOptions rest = options;
      rest.timeout = deadline - SteadyNow();
      info = EmbedUnary(sink, request, rest);
    }
  }
  if (info.ok()) choice_.Learn(request.model, *info);
  return info;
}

absl::StatusOr<EmbedInfo> GrpcTransport::Embed(const EmbedRequest& request, const Place& place,
                                               const CallOptions& options) {
  PlacedReply sink(place);
  return EmbedTo(&sink, request, options);
}

absl::StatusOr<EmbedInfo> GrpcTransport::EmbedSlices(const EmbedRequest& request, const Visit& visit,
                                                     const CallOptions& options) {
  VisitedReply sink(visit);
  return EmbedTo(&sink, request, options);
}

void GrpcTransport::EmbedAsync(const EmbedRequest& request, Place place, const CallOptions& options, EmbedDone done) {
  const auto bytes = RequestBytes(request);
  if (!bytes.ok()) return done(bytes.status());
  const auto queue = loop_.Queue();
  if (!queue.ok()) return done(queue.status());
  auto* const call =
      new AsyncEmbed(stub_, *queue, budget_, token_, options, SteadyNow() + options.timeout.value_or(timeout_),
                     max_attempts_, *bytes, request.output_target, std::move(place), std::move(done));
  call->Start();
}

absl::StatusOr<std::unique_ptr<StreamTransport>> GrpcTransport::OpenStream(const CallOptions& options) {
  auto stream = std::make_unique<GrpcStream>(&stub_, options, token_.get());
  if (absl::Status status = stream->Start(); !status.ok()) return status;
  return stream;
}

absl::StatusOr<RotatedVectors> GrpcTransport::Rotate(const RotateRequest& request, const CallOptions& options) {
  const auto bytes = ToBytes(request);
  if (!bytes.ok()) return bytes.status();
  auto reply = Call("/embd.v1.EmbeddingService/Rotate", *bytes, options);
  if (!reply.ok()) return reply.status();
  return ReadRotated(&*reply);
}

absl::StatusOr<RotaryTable> GrpcTransport::GetRotaryTable(const RotaryTableRequest& request,
                                                          const CallOptions& options) {
  const auto bytes = ToBytes(ToProto(request));
  if (!bytes.ok()) return bytes.status();
  auto reply = Call("/embd.v1.EmbeddingService/RotaryTable", *bytes, options);
  if (!reply.ok()) return reply.status();
  return ReadRotaryTable(&*reply);
}

absl::StatusOr<std::vector<ModelSummary>> GrpcTransport::ListModels(const CallOptions& options) {
  const auto response = CallWithMessages<v1::ListModelsResponse>("/embd.v1.DiagnosticsService/ListModels",
                                                                 v1::ListModelsRequest(), options);
  if (!response.ok()) return response.status();
  return FromProto(*response);
}

absl::StatusOr<ModelDescription> GrpcTransport::DescribeModel(const DescribeModelRequest& request,
                                                              const CallOptions& options) {
  const auto response = CallWithMessages<v1::DescribeModelResponse>("/embd.v1.DiagnosticsService/DescribeModel",
                                                                    ToProto(request), options);
  if (!response.ok()) return response.status();
  return FromProto(*response);
}

absl::StatusOr<TokenIds> GrpcTransport::LookUpTokens(const LookUpTokensRequest& request, const CallOptions& options) {
  const auto response =
      CallWithMessages<v1::LookUpTokensResponse>("/embd.v1.DiagnosticsService/LookUpTokens", ToProto(request), options);
  if (!response.ok()) return response.status();
  return FromProto(*response);
}

absl::StatusOr<NeighbourCurve> GrpcTransport::NeighbourSimilarity(const NeighbourSimilarityRequest& request,
                                                                  const CallOptions& options) {
  const auto response = CallWithMessages<v1::NeighbourSimilarityResponse>(
      "/embd.v1.DiagnosticsService/NeighbourSimilarity", ToProto(request), options);
  if (!response.ok()) return response.status();
  return FromProto(*response);
}

absl::StatusOr<PooledBags> GrpcTransport::EmbedBags(const EmbedBagsRequest& request, const CallOptions& options) {
  auto response =
      AskWithMessages<v1::EmbedBagsResponse>("/embd.v1.EmbeddingService/EmbedBags", ToProto(request), options);
  if (!response.ok()) return response.status();
  return FromProto(*std::move(response));
}

absl::StatusOr<Gradients> GrpcTransport::Gradient(const GradientRequest& request, const CallOptions& options) {
  auto response =
      AskWithMessages<v1::GradientResponse>("/embd.v1.EmbeddingService/Gradient", ToProto(request), options);
  if (!response.ok()) return response.status();
  return FromProto(*std::move(response));
}

absl::StatusOr<Projection> GrpcTransport::Project(const ProjectRequest& request, const CallOptions& options) {
  auto response = AskWithMessages<v1::ProjectResponse>("/embd.v1.EmbeddingService/Project", ToProto(request), options);
  if (!response.ok()) return response.status();
  return FromProto(*std::move(response));
}

absl::StatusOr<client::TableStatistics> GrpcTransport::TableStatistics(const TableStatisticsRequest& request,
                                                                       const CallOptions& options) {
  auto response = CallWithMessages<v1::TableStatisticsResponse>("/embd.v1.DiagnosticsService/TableStatistics",
                                                                ToProto(request), options);
  if (!response.ok()) return response.status();
  return FromProto(*std::move(response));
}

absl::StatusOr<client::CosineSimilarities> GrpcTransport::CosineSimilarities(const CosineSimilaritiesRequest& request,
                                                                             const CallOptions& options) {
  auto response = CallWithMessages<v1::CosineSimilaritiesResponse>("/embd.v1.DiagnosticsService/CosineSimilarities",
                                                                   ToProto(request), options);
  if (!response.ok()) return response.status();
  return FromProto(*std::move(response));
}

absl::StatusOr<client::NearestTokens> GrpcTransport::NearestTokens(const NearestTokensRequest& request,
                                                                   const CallOptions& options) {
  auto response = CallWithMessages<v1::NearestTokensResponse>("/embd.v1.DiagnosticsService/NearestTokens",
                                                              ToProto(request), options);
  if (!response.ok()) return response.status();
  return FromProto(*std::move(response));
}

absl::StatusOr<client::PositionWavelengths> GrpcTransport::PositionWavelengths(
    const PositionWavelengthsRequest& request, const CallOptions& options) {
  auto response = CallWithMessages<v1::PositionWavelengthsResponse>("/embd.v1.DiagnosticsService/PositionWavelengths",
                                                                    ToProto(request), options);
  if (!response.ok()) return response.status();
  return FromProto(*std::move(response));
}

absl::StatusOr<client::ShiftProperty> GrpcTransport::ShiftProperty(const ShiftPropertyRequest& request,
                                                                   const CallOptions& options) {
  auto response = CallWithMessages<v1::ShiftPropertyResponse>("/embd.v1.DiagnosticsService/ShiftProperty",
                                                              ToProto(request), options);
  if (!response.ok()) return response.status();
  return FromProto(*std::move(response));
}

absl::StatusOr<CellExplanation> GrpcTransport::ExplainCell(const ExplainCellRequest& request,
                                                           const CallOptions& options) {
  auto response =
      CallWithMessages<v1::ExplainCellResponse>("/embd.v1.DiagnosticsService/ExplainCell", ToProto(request), options);
  if (!response.ok()) return response.status();
  return FromProto(*std::move(response));
}

absl::StatusOr<ServerInfo> GrpcTransport::GetServerInfo(const CallOptions& options) {
  const auto response = CallWithMessages<v1::GetServerInfoResponse>("/embd.v1.DiagnosticsService/GetServerInfo",
                                                                    v1::GetServerInfoRequest(), options);
  if (!response.ok()) return response.status();
  return FromProto(*response);
}

absl::StatusOr<HealthStatus> GrpcTransport::CheckHealth(const std::string& service, const CallOptions& options) {
  auto reply = CallAtMost(&any_state_stub_, max_attempts_, kHealthCheckMethod, HealthRequest(service), options);
  if (!reply.ok()) return reply.status();
  return ReadHealthReply(&*reply);
}

absl::StatusOr<LoadedModel> GrpcTransport::LoadModel(const std::string& name, const CallOptions& options) {
  v1::LoadModelRequest request;
  request.set_name(name);
  const auto response = ChangeWithMessages<v1::LoadModelResponse>("/embd.v1.AdminService/LoadModel", request, options);
  if (!response.ok()) return response.status();
  return FromProto(response->model());
}

absl::Status GrpcTransport::UnloadModel(const std::string& name, const CallOptions& options) {
  v1::UnloadModelRequest request;
  request.set_name(name);
  return ChangeWithMessages<v1::UnloadModelResponse>("/embd.v1.AdminService/UnloadModel", request, options).status();
}

absl::StatusOr<ReloadReport> GrpcTransport::ReloadConfig(const CallOptions& options) {
  const auto response = ChangeWithMessages<v1::ReloadConfigResponse>("/embd.v1.AdminService/ReloadConfig",
                                                                     v1::ReloadConfigRequest(), options);
  if (!response.ok()) return response.status();
  return FromProto(*response);
}

absl::Status GrpcTransport::RegisterRegion(const Region& region, const CallOptions& options) {
  return ChangeWithMessages<v1::RegisterRegionResponse>("/embd.v1.AdminService/RegisterRegion", ToRequest(region),
                                                        options)
      .status();
}

absl::Status GrpcTransport::UnregisterRegion(const std::string& name, const CallOptions& options) {
  v1::UnregisterRegionRequest request;
  request.set_name(name);
  return ChangeWithMessages<v1::UnregisterRegionResponse>("/embd.v1.AdminService/UnregisterRegion", request, options)
      .status();
}

absl::StatusOr<std::vector<Region>> GrpcTransport::ListRegions(const CallOptions& options) {
  const auto response =
      CallWithMessages<v1::ListRegionsResponse>("/embd.v1.AdminService/ListRegions", v1::ListRegionsRequest(), options);
  if (!response.ok()) return response.status();
  return FromProto(*response);
}

}  // namespace embd::client
