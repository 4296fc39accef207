#include "server/oip/inference_service.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/oip/describe.h"
#include "server/oip/infer_work.h"
#include "server/oip/model_stream_reactor.h"
#include "server/oip/region_calls.h"
#include "server/oip/repository_calls.h"
#include "server/service/detached_unary.h"
#include "server/service/pooled_unary.h"
#include "server/service/raw_unary.h"

namespace embd::oip {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;
using service::Length;
using service::Method;
using Time = std::chrono::steady_clock::time_point;

// One call with ordinary messages: `answer` makes the Response from (request, call).
template <typename Request, typename Response, typename Answer>
ServerUnaryReactor* Start(const Context& context, Method method, CallbackServerContext* call, const ByteBuffer* request,
                          ByteBuffer* reply, Length length, Answer answer) {
  return service::RawUnary<Request, Response>::Start(&context.backend, method, call, request, reply, length,
                                                     std::move(answer));
}

// A call of Triton's that has no meaning here.
template <typename Request, typename Response>
ServerUnaryReactor* Refuse(const Context& context, Method method, CallbackServerContext* call,
                           const ByteBuffer* request, ByteBuffer* reply, absl::string_view why) {
  const auto refuse = [method, why](const Request&, const service::Call&) -> absl::StatusOr<Response> {
    return core::Error(absl::StatusCode::kUnimplemented, "NOT_SERVED",
                       absl::StrCat(NameOf(method), " is not served: ", why));
  };
  return Start<Request, Response>(context, method, call, request, reply, Length::kShort, refuse);
}

constexpr absl::string_view kNoCuda = "tables and results lie in the memory of the host; use SystemSharedMemory";

}  // namespace

ServerUnaryReactor* InferenceService::ModelInfer(CallbackServerContext* context, const ByteBuffer* request,
                                                 ByteBuffer* reply) {
  return service::AnswerPooled<InferWork>(context_, Method::kModelInfer, context, request, reply);
}

grpc::ServerBidiReactor<ByteBuffer, ByteBuffer>* InferenceService::ModelStreamInfer(CallbackServerContext* context) {
  return AnswerModelStream(context_, context);
}

ServerUnaryReactor* InferenceService::ServerLive(CallbackServerContext* context, const ByteBuffer* request,
                                                 ByteBuffer* reply) {
  using Request = ::inference::ServerLiveRequest;
  using Response = ::inference::ServerLiveResponse;
  return Start<Request, Response>(
      *context_, Method::kServerLive, context, request, reply, Length::kShort,
      [](const Request& /*message*/, const service::Call& /*call*/) -> absl::StatusOr<Response> {
        Response response;
        response.set_live(true);
        return response;
      });
}

ServerUnaryReactor* InferenceService::ServerReady(CallbackServerContext* context, const ByteBuffer* request,
                                                  ByteBuffer* reply) {
  using Request = ::inference::ServerReadyRequest;
  using Response = ::inference::ServerReadyResponse;
  return Start<Request, Response>(
      *context_, Method::kServerReady, context, request, reply, Length::kShort,
      [this](const Request& /*message*/, const service::Call& /*call*/) -> absl::StatusOr<Response> {
        Response response;
        response.set_ready(context_->ready.load() && !context_->stopping.load());
        return response;
      });
}

ServerUnaryReactor* InferenceService::ModelReady(CallbackServerContext* context, const ByteBuffer* request,
                                                 ByteBuffer* reply) {
  using Request = ::inference::ModelReadyRequest;
  using Response = ::inference::ModelReadyResponse;
  return Start<Request, Response>(
      *context_, Method::kModelReady, context, request, reply, Length::kShort,
      [this](const Request& message, const service::Call& /*call*/) -> absl::StatusOr<Response> {
        Response response;
        response.set_ready(!context_->stopping.load() &&
                           context_->servables.Find(message.name(), message.version()).ok());
        return response;
      });
}

ServerUnaryReactor* InferenceService::ServerMetadata(CallbackServerContext* context, const ByteBuffer* request,
                                                     ByteBuffer* reply) {
  using Request = ::inference::ServerMetadataRequest;
  using Response = ::inference::ServerMetadataResponse;
  return Start<Request, Response>(
      *context_, Method::kServerMetadata, context, request, reply, Length::kShort,
      [this](const Request& /*message*/, const service::Call& /*call*/) -> absl::StatusOr<Response> {
        return DescribeServer(*context_);
      });
}

ServerUnaryReactor* InferenceService::ModelMetadata(CallbackServerContext* context, const ByteBuffer* request,
                                                    ByteBuffer* reply) {
  using Request = ::inference::ModelMetadataRequest;
  using Response = ::inference::ModelMetadataResponse;
  return Start<Request, Response>(
      *context_, Method::kModelMetadata, context, request, reply, Length::kShort,
      [this](const Request& message, const service::Call& /*call*/) -> absl::StatusOr<Response> {
        const auto servable = context_->servables.Find(message.name(), message.version());
        if (!servable.ok()) return servable.status();
        return DescribeModel(**servable);
      });
}

ServerUnaryReactor* InferenceService::ModelConfig(CallbackServerContext* context, const ByteBuffer* request,
                                                  ByteBuffer* reply) {
  using Request = ::inference::ModelConfigRequest;
  using Response = ::inference::ModelConfigResponse;
  return Start<Request, Response>(
      *context_, Method::kModelConfig, context, request, reply, Length::kShort,
      [this](const Request& message, const service::Call& /*call*/) -> absl::StatusOr<Response> {
        const auto servable = context_->servables.Find(message.name(), message.version());
        if (!servable.ok()) return servable.status();
        return DescribeConfig(**servable);
      });
}

ServerUnaryReactor* InferenceService::ModelStatistics(CallbackServerContext* context, const ByteBuffer* request,
                                                      ByteBuffer* reply) {
  using Request = ::inference::ModelStatisticsRequest;
  using Response = ::inference::ModelStatisticsResponse;
  return Start<Request, Response>(
      *context_, Method::kModelStatistics, context, request, reply, Length::kShort,
      [this](const Request& message, const service::Call& /*call*/) -> absl::StatusOr<Response> {
        Response response;
        if (message.name().empty()) {
          for (const auto& servable : context_->servables.All()) {
            *response.add_model_stats() = DescribeStatistics(*context_, *servable);
          }
          return response;
        }
        const auto servable = context_->servables.Find(message.name(), message.version());
        if (!servable.ok()) return servable.status();
        *response.add_model_stats() = DescribeStatistics(*context_, **servable);
        return response;
      });
}

ServerUnaryReactor* InferenceService::RepositoryIndex(CallbackServerContext* context, const ByteBuffer* request,
                                                      ByteBuffer* reply) {
  using Request = ::inference::RepositoryIndexRequest;
  using Response = ::inference::RepositoryIndexResponse;
  return Start<Request, Response>(
      *context_, Method::kRepositoryIndex, context, request, reply, Length::kShort,
      [this](const Request& message, const service::Call& /*call*/) -> absl::StatusOr<Response> {
        return AnswerIndex(*context_, message);
      });
}

ServerUnaryReactor* InferenceService::RepositoryModelLoad(CallbackServerContext* context, const ByteBuffer* request,
                                                          ByteBuffer* reply) {
  using Request = ::inference::RepositoryModelLoadRequest;
  using Response = ::inference::RepositoryModelLoadResponse;
  return service::DetachedUnary<Request, Response>::Start(
      &context_->backend, &context_->loads, Method::kRepositoryModelLoad, context, request, reply,
      [this](const Request& message, [[maybe_unused]] Time asked) -> absl::StatusOr<Response> {
        return AnswerLoad(*context_, message, asked);
      });
}

ServerUnaryReactor* InferenceService::RepositoryModelUnload(CallbackServerContext* context, const ByteBuffer* request,
                                                            ByteBuffer* reply) {
  using Request = ::inference::RepositoryModelUnloadRequest;
  using Response = ::inference::RepositoryModelUnloadResponse;
  return service::DetachedUnary<Request, Response>::Start(
      &context_->backend, &context_->unloads, Method::kRepositoryModelUnload, context, request, reply,
      [this](const Request& message, [[maybe_unused]] Time asked) -> absl::StatusOr<Response> {
        return AnswerUnload(*context_, message);
      });
}

ServerUnaryReactor* InferenceService::SystemSharedMemoryStatus(CallbackServerContext* context,
                                                               const ByteBuffer* request, ByteBuffer* reply) {
  using Request = ::inference::SystemSharedMemoryStatusRequest;
  using Response = ::inference::SystemSharedMemoryStatusResponse;
  return Start<Request, Response>(
      *context_, Method::kSystemSharedMemoryStatus, context, request, reply, Length::kShort,
      [this](const Request& message, const service::Call& call) -> absl::StatusOr<Response> {
        return AnswerRegionStatus(context_->backend, call, message);
      });
}

ServerUnaryReactor* InferenceService::SystemSharedMemoryRegister(CallbackServerContext* context,
                                                                 const ByteBuffer* request, ByteBuffer* reply) {
  using Request = ::inference::SystemSharedMemoryRegisterRequest;
  using Response = ::inference::SystemSharedMemoryRegisterResponse;
  return Start<Request, Response>(
      *context_, Method::kSystemSharedMemoryRegister, context, request, reply, Length::kMedium,
      [this](const Request& message, const service::Call& call) -> absl::StatusOr<Response> {
        return AnswerRegister(context_->backend, call, message);
      });
}

ServerUnaryReactor* InferenceService::SystemSharedMemoryUnregister(CallbackServerContext* context,
                                                                   const ByteBuffer* request, ByteBuffer* reply) {
  using Request = ::inference::SystemSharedMemoryUnregisterRequest;
  using Response = ::inference::SystemSharedMemoryUnregisterResponse;
  return Start<Request, Response>(
      *context_, Method::kSystemSharedMemoryUnregister, context, request, reply, Length::kMedium,
      [this](const Request& message, const service::Call& call) -> absl::StatusOr<Response> {
        return AnswerUnregister(context_->backend, call, message);
      });
}

ServerUnaryReactor* InferenceService::CudaSharedMemoryStatus(CallbackServerContext* context, const ByteBuffer* request,
                                                             ByteBuffer* reply) {
  return Refuse<::inference::CudaSharedMemoryStatusRequest, ::inference::CudaSharedMemoryStatusResponse>(
      *context_, Method::kCudaSharedMemoryStatus, context, request, reply, kNoCuda);
}

ServerUnaryReactor* InferenceService::CudaSharedMemoryRegister(CallbackServerContext* context,
                                                               const ByteBuffer* request, ByteBuffer* reply) {
  return Refuse<::inference::CudaSharedMemoryRegisterRequest, ::inference::CudaSharedMemoryRegisterResponse>(
      *context_, Method::kCudaSharedMemoryRegister, context, request, reply, kNoCuda);
}

ServerUnaryReactor* InferenceService::CudaSharedMemoryUnregister(CallbackServerContext* context,
                                                                 const ByteBuffer* request, ByteBuffer* reply) {
  return Refuse<::inference::CudaSharedMemoryUnregisterRequest, ::inference::CudaSharedMemoryUnregisterResponse>(
      *context_, Method::kCudaSharedMemoryUnregister, context, request, reply, kNoCuda);
}

ServerUnaryReactor* InferenceService::TraceSetting(CallbackServerContext* context, const ByteBuffer* request,
                                                   ByteBuffer* reply) {
  return Refuse<::inference::TraceSettingRequest, ::inference::TraceSettingResponse>(
      *context_, Method::kTraceSetting, context, request, reply, "the server writes no traces of its own");
}

ServerUnaryReactor* InferenceService::LogSettings(CallbackServerContext* context, const ByteBuffer* request,
                                                  ByteBuffer* reply) {
  return Refuse<::inference::LogSettingsRequest, ::inference::LogSettingsResponse>(
      *context_, Method::kLogSettings, context, request, reply, "logging is set in the server's configuration");
}

}  // namespace embd::oip
