#include "server/service/diagnostics_service.h"

#include "server/service/describe.h"
#include "server/service/look_up_tokens.h"
#include "server/service/nearest_tokens.h"
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

grpc::ServerUnaryReactor* DiagnosticsService::TableStatistics(grpc::CallbackServerContext* context,
                                                              const grpc::ByteBuffer* request,
                                                              grpc::ByteBuffer* reply) {
  return RawUnary<v1::TableStatisticsRequest, v1::TableStatisticsResponse>::Start(
      backend_, Method::kTableStatistics, context, request, reply, Length::kMedium,
      [](const auto&, const Call&) -> absl::StatusOr<v1::TableStatisticsResponse> {
        return absl::UnimplementedError("TableStatistics");
      });
}

grpc::ServerUnaryReactor* DiagnosticsService::CosineSimilarities(grpc::CallbackServerContext* context,
                                                                 const grpc::ByteBuffer* request,
                                                                 grpc::ByteBuffer* reply) {
  return RawUnary<v1::CosineSimilaritiesRequest, v1::CosineSimilaritiesResponse>::Start(
      backend_, Method::kCosineSimilarities, context, request, reply, Length::kMedium,
      [](const auto&, const Call&) -> absl::StatusOr<v1::CosineSimilaritiesResponse> {
        return absl::UnimplementedError("CosineSimilarities");
      });
}

grpc::ServerUnaryReactor* DiagnosticsService::NearestTokens(grpc::CallbackServerContext* context,
                                                            const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::NearestTokensRequest, v1::NearestTokensResponse>::Start(
      backend_, Method::kNearestTokens, context, request, reply, Length::kMedium,
      [this](const auto& message, const Call& call) {
        return AnswerNearestTokens(backend_->models, backend_->workers, message,
                                   [&call] { return call.Interrupted(); });
      });
}

grpc::ServerUnaryReactor* DiagnosticsService::PositionWavelengths(grpc::CallbackServerContext* context,
                                                                  const grpc::ByteBuffer* request,
                                                                  grpc::ByteBuffer* reply) {
  return RawUnary<v1::PositionWavelengthsRequest, v1::PositionWavelengthsResponse>::Start(
      backend_, Method::kPositionWavelengths, context, request, reply, Length::kMedium,
      [](const auto&, const Call&) -> absl::StatusOr<v1::PositionWavelengthsResponse> {
        return absl::UnimplementedError("PositionWavelengths");
      });
}

grpc::ServerUnaryReactor* DiagnosticsService::ShiftProperty(grpc::CallbackServerContext* context,
                                                            const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::ShiftPropertyRequest, v1::ShiftPropertyResponse>::Start(
      backend_, Method::kShiftProperty, context, request, reply, Length::kMedium,
      [](const auto&, const Call&) -> absl::StatusOr<v1::ShiftPropertyResponse> {
        return absl::UnimplementedError("ShiftProperty");
      });
}

grpc::ServerUnaryReactor* DiagnosticsService::ExplainCell(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::ExplainCellRequest, v1::ExplainCellResponse>::Start(
      backend_, Method::kExplainCell, context, request, reply, Length::kMedium,
      [](const auto&, const Call&) -> absl::StatusOr<v1::ExplainCellResponse> {
        return absl::UnimplementedError("ExplainCell");
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
