#ifndef EMBD_SERVER_SERVICE_DIAGNOSTICS_SERVICE_H_
#define EMBD_SERVER_SERVICE_DIAGNOSTICS_SERVICE_H_

#include "embd/v1/diagnostics.grpc.pb.h"
#include "server/service/backend.h"
#include "server/service/raw_methods.h"

namespace embd::service {

/// embd.v1.DiagnosticsService as gRPC sees it; what the calls do and refuse is said in diagnostics.proto.
///
/// Ownership: `backend` outlives the service. Thread safety: thread-safe.
class DiagnosticsService final
    : public RawMethods<v1::DiagnosticsService::Service, v1::DiagnosticsService::WithRawCallbackMethod_ListModels,
                        v1::DiagnosticsService::WithRawCallbackMethod_DescribeModel,
                        v1::DiagnosticsService::WithRawCallbackMethod_LookUpTokens,
                        v1::DiagnosticsService::WithRawCallbackMethod_NeighbourSimilarity,
                        v1::DiagnosticsService::WithRawCallbackMethod_TableStatistics,
                        v1::DiagnosticsService::WithRawCallbackMethod_CosineSimilarities,
                        v1::DiagnosticsService::WithRawCallbackMethod_NearestTokens,
                        v1::DiagnosticsService::WithRawCallbackMethod_PositionWavelengths,
                        v1::DiagnosticsService::WithRawCallbackMethod_ShiftProperty,
                        v1::DiagnosticsService::WithRawCallbackMethod_ExplainCell,
                        v1::DiagnosticsService::WithRawCallbackMethod_GetServerInfo> {
 public:
  explicit DiagnosticsService(Backend* backend) : backend_(backend) {}

  grpc::ServerUnaryReactor* ListModels(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* DescribeModel(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* LookUpTokens(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* NeighbourSimilarity(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                                grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* TableStatistics(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* CosineSimilarities(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                               grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* NearestTokens(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* PositionWavelengths(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                                grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ShiftProperty(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ExplainCell(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* reply) override;

 private:
  Backend* const backend_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_DIAGNOSTICS_SERVICE_H_
