#include "server/service/diagnostics_service.h"

#include "server/service/describe.h"
#include "server/service/look_up_tokens.h"
#include "server/service/raw_unary.h"
#include "server/service/similarity.h"

namespace embd::service {

grpc::ServerUnaryReactor* DiagnosticsService::ListModels(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::ListModelsRequest, v1::ListModelsResponse>::Start(
      backend_, Method::kListModels, context, request, reply, Length::kShort,
      [this](const auto&, const Call&) { return AnswerListModels(backend_->models); });
}

grpc::ServerUnaryReactor* DiagnosticsService::DescribeModel(grpc::CallbackServerContext* context,
                                                            const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::DescribeModelRequest, v1::DescribeModelResponse>::Start(
      backend_, Method::kDescribeModel, context, request, reply, Length::kShort,
      [this](const auto& message, const Call&) { return AnswerDescribeModel(backend_->models, message); });
}

grpc::ServerUnaryReactor* DiagnosticsService::LookUpTokens(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::LookUpTokensRequest, v1::LookUpTokensResponse>::Start(
      backend_, Method::kLookUpTokens, context, request, reply, Length::kShort,
      [this](const auto& message, const Call& call) {
        return AnswerLookUpTokens(backend_->models, message, [&call] { return call.Interrupted(); });
      });
}

grpc::ServerUnaryReactor* DiagnosticsService::NeighbourSimilarity(grpc::CallbackServerContext* context,
                                                                  const grpc::ByteBuffer* request,
                                                                  grpc::ByteBuffer* reply) {
  return RawUnary<v1::NeighbourSimilarityRequest, v1::NeighbourSimilarityResponse>::Start(
      backend_, Method::kNeighbourSimilarity, context, request, reply, Length::kLong,
      [this](const auto& message, const Call& call) {
        return AnswerNeighbourSimilarity(backend_->models, message, [&call] { return call.Interrupted(); });
      });
}

grpc::ServerUnaryReactor* DiagnosticsService::GetServerInfo(grpc::CallbackServerContext* context,
                                                            const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::GetServerInfoRequest, v1::GetServerInfoResponse>::Start(
      backend_, Method::kGetServerInfo, context, request, reply, Length::kShort,
      [this](const auto&, const Call&) -> absl::StatusOr<v1::GetServerInfoResponse> {
        return AnswerGetServerInfo(*backend_);
      });
}

}  // namespace embd::service
