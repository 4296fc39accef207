#ifndef EMBD_CLIENT_SRC_GRPC_TRANSPORT_H_
#define EMBD_CLIENT_SRC_GRPC_TRANSPORT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/src/bearer_token.h"
#include "client/src/chunk_choice.h"
#include "client/src/completion_loop.h"
#include "client/src/reply_sink.h"
#include "client/src/retry.h"
#include "embd/client/transport.h"
#include "grpcpp/channel.h"
#include "grpcpp/generic/generic_stub.h"

namespace embd::client {

/// Asks a server over gRPC.
///
/// Messages are sent and received as bytes, so that tensors go from the received slices straight to their place. A
/// blocking call polls the connection itself, on a queue of its own: a fifth cheaper than waiting for a thread that
/// does.
///
/// Thread safety: thread-safe.
class GrpcTransport : public Transport {
 public:
  /// `timeout` and `max_attempts` are as in ClientOptions; the latter for calls that only ask, which the channel must
  /// not try again by itself. `any_state` reaches servers also while they are not serving: health and models are asked
  /// for, and seen to, there. `token` goes with each call; null: none does.
  GrpcTransport(std::shared_ptr<grpc::Channel> channel, std::shared_ptr<grpc::Channel> any_state,
                absl::Duration timeout, int max_attempts, std::shared_ptr<BearerToken> token);

  [[nodiscard]] absl::StatusOr<EmbedInfo> Embed(const EmbedRequest& request, const Place& place,
                                                const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<EmbedInfo> EmbedSlices(const EmbedRequest& request, const Visit& visit,
                                                      const CallOptions& options) override;
  void EmbedAsync(const EmbedRequest& request, Place place, const CallOptions& options, EmbedDone done) override;
  [[nodiscard]] absl::StatusOr<std::unique_ptr<StreamTransport>> OpenStream(const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<RotatedVectors> Rotate(const RotateRequest& request,
                                                      const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<RotaryTable> GetRotaryTable(const RotaryTableRequest& request,
                                                           const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<std::vector<ModelSummary>> ListModels(const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<ModelDescription> DescribeModel(const DescribeModelRequest& request,
                                                               const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<TokenIds> LookUpTokens(const LookUpTokensRequest& request,
                                                      const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<NeighbourCurve> NeighbourSimilarity(const NeighbourSimilarityRequest& request,
                                                                   const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<PooledBags> EmbedBags(const EmbedBagsRequest& request,
                                                     const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<Gradients> Gradient(const GradientRequest& request, const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<Projection> Project(const ProjectRequest& request, const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<client::TableStatistics> TableStatistics(const TableStatisticsRequest& request,
                                                                        const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<client::CosineSimilarities> CosineSimilarities(const CosineSimilaritiesRequest& request,
                                                                              const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<client::NearestTokens> NearestTokens(const NearestTokensRequest& request,
                                                                    const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<client::PositionWavelengths> PositionWavelengths(
      const PositionWavelengthsRequest& request, const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<client::ShiftProperty> ShiftProperty(const ShiftPropertyRequest& request,
                                                                    const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<CellExplanation> ExplainCell(const ExplainCellRequest& request,
                                                            const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<ServerInfo> GetServerInfo(const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<HealthStatus> CheckHealth(const std::string& service,
                                                         const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<LoadedModel> LoadModel(const std::string& name, const CallOptions& options) override;
  [[nodiscard]] absl::Status UnloadModel(const std::string& name, const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<ReloadReport> ReloadConfig(const CallOptions& options) override;
  [[nodiscard]] absl::Status RegisterRegion(const Region& region, const CallOptions& options) override;
  [[nodiscard]] absl::Status UnregisterRegion(const std::string& name, const CallOptions& options) override;
  [[nodiscard]] absl::StatusOr<std::vector<Region>> ListRegions(const CallOptions& options) override;

 private:
  // Hands the tensor to `sink`, received as one message or in blocks.
  absl::StatusOr<EmbedInfo> EmbedTo(ReplySink* sink, const EmbedRequest& request, const CallOptions& options);
  absl::StatusOr<EmbedInfo> EmbedUnary(ReplySink* sink, const EmbedRequest& request, const CallOptions& options);

  // One unary call that only asks, bytes in and out; blocks, and is tried again.
  absl::StatusOr<grpc::ByteBuffer> Call(const char* method, const grpc::ByteBuffer& request,
                                        const CallOptions& options);
  absl::StatusOr<grpc::ByteBuffer> CallAtMost(grpc::GenericStub* stub, int max_attempts, const char* method,
                                              const grpc::ByteBuffer& request, const CallOptions& options);

  // The same with messages.
  template <typename Response, typename Request>
  absl::StatusOr<Response> AskWithMessages(const char* method, const Request& request, const CallOptions& options);

  // The same with messages, to servers in any state.
  template <typename Response, typename Request>
  absl::StatusOr<Response> CallWithMessages(const char* method, const Request& request, const CallOptions& options);

  // One that changes something, in any state, which only the channel may try again, before the server has seen to it.
  template <typename Response, typename Request>
  absl::StatusOr<Response> ChangeWithMessages(const char* method, const Request& request, const CallOptions& options);

  grpc::GenericStub stub_;
  grpc::GenericStub any_state_stub_;
  const absl::Duration timeout_;
  const int max_attempts_;
  const std::shared_ptr<BearerToken> token_;
  const std::shared_ptr<RetryBudget> budget_ = std::make_shared<RetryBudget>();
  ChunkChoice choice_;
  CompletionLoop loop_;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_GRPC_TRANSPORT_H_
