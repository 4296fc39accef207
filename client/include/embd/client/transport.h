#ifndef EMBD_CLIENT_TRANSPORT_H_
#define EMBD_CLIENT_TRANSPORT_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "embd/client/admin.h"
#include "embd/client/bags.h"
#include "embd/client/diagnostics.h"
#include "embd/client/embedding.h"
#include "embd/client/explain.h"
#include "embd/client/gradient.h"
#include "embd/client/nearest.h"
#include "embd/client/options.h"
#include "embd/client/positions.h"
#include "embd/client/project.h"
#include "embd/client/region.h"
#include "embd/client/rotary.h"
#include "embd/client/statistics.h"

namespace embd::client {

/// The two ends of one stream; see EmbedStream for the contract of each call.
///
/// Thread safety: sending and receiving may go on in two threads at a time. Destruction cancels what goes on.
class StreamTransport {
 public:
  virtual ~StreamTransport() = default;
  [[nodiscard]] virtual absl::Status Send(const EmbedRequest& request, absl::string_view request_id) = 0;
  [[nodiscard]] virtual absl::Status CloseSending() = 0;
  [[nodiscard]] virtual absl::StatusOr<std::optional<StreamItem>> Receive() = 0;
  virtual void Cancel() = 0;
};

/// How a Client reaches a server; see Client for the contract of each call. FakeTransport is one that needs no server.
/// New calls of the API add members here.
///
/// Thread safety: implementations are thread-safe.
class Transport {
 public:
  /// Gives the memory for a tensor of exactly `byte_size` bytes, or refuses it. Called at most once a call: once the
  /// reply has been found to be right where it is one message, else once the first block of rows has said what is to
  /// come. What is returned is then filled entirely, unless the call fails after all.
  using Place = std::function<absl::StatusOr<std::span<std::byte>>(const EmbedInfo& info, std::size_t byte_size)>;

  /// Is shown the next bytes of a tensor, in order; see Client::EmbedSlices. What it returns other than OK ends the
  /// call.
  using Visit = std::function<absl::Status(const EmbedInfo& info, std::span<const std::byte> piece)>;

  using EmbedDone = std::function<void(absl::StatusOr<EmbedInfo>)>;

  virtual ~Transport() = default;

  /// Puts the tensor where `place` says. A refusal of `place` is returned as it is.
  [[nodiscard]] virtual absl::StatusOr<EmbedInfo> Embed(const EmbedRequest& request, const Place& place,
                                                        const CallOptions& options) = 0;

  /// Shows the tensor to `visit` where it was received. What `visit` refuses with is returned as it is.
  [[nodiscard]] virtual absl::StatusOr<EmbedInfo> EmbedSlices(const EmbedRequest& request, const Visit& visit,
                                                              const CallOptions& options) = 0;

  /// Embed without waiting: `done` is called exactly once, on whatever thread, maybe before this returns.
  virtual void EmbedAsync(const EmbedRequest& request, Place place, const CallOptions& options, EmbedDone done) = 0;

  [[nodiscard]] virtual absl::StatusOr<std::unique_ptr<StreamTransport>> OpenStream(const CallOptions& options) = 0;

  [[nodiscard]] virtual absl::StatusOr<RotatedVectors> Rotate(const RotateRequest& request,
                                                              const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<RotaryTable> GetRotaryTable(const RotaryTableRequest& request,
                                                                   const CallOptions& options) = 0;

  [[nodiscard]] virtual absl::StatusOr<std::vector<ModelSummary>> ListModels(const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<ModelDescription> DescribeModel(const DescribeModelRequest& request,
                                                                       const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<TokenIds> LookUpTokens(const LookUpTokensRequest& request,
                                                              const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<NeighbourCurve> NeighbourSimilarity(const NeighbourSimilarityRequest& request,
                                                                           const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<PooledBags> EmbedBags(const EmbedBagsRequest& request,
                                                             const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<Gradients> Gradient(const GradientRequest& request,
                                                           const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<Projection> Project(const ProjectRequest& request,
                                                           const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<client::TableStatistics> TableStatistics(const TableStatisticsRequest& request,
                                                                                const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<client::CosineSimilarities> CosineSimilarities(
      const CosineSimilaritiesRequest& request, const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<client::NearestTokens> NearestTokens(const NearestTokensRequest& request,
                                                                            const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<client::PositionWavelengths> PositionWavelengths(
      const PositionWavelengthsRequest& request, const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<client::ShiftProperty> ShiftProperty(const ShiftPropertyRequest& request,
                                                                            const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<CellExplanation> ExplainCell(const ExplainCellRequest& request,
                                                                    const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<ServerInfo> GetServerInfo(const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<HealthStatus> CheckHealth(const std::string& service,
                                                                 const CallOptions& options) = 0;

  [[nodiscard]] virtual absl::StatusOr<LoadedModel> LoadModel(const std::string& name, const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::Status UnloadModel(const std::string& name, const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<ReloadReport> ReloadConfig(const CallOptions& options) = 0;

  [[nodiscard]] virtual absl::Status RegisterRegion(const Region& region, const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::Status UnregisterRegion(const std::string& name, const CallOptions& options) = 0;
  [[nodiscard]] virtual absl::StatusOr<std::vector<Region>> ListRegions(const CallOptions& options) = 0;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_TRANSPORT_H_
