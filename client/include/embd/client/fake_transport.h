#ifndef EMBD_CLIENT_FAKE_TRANSPORT_H_
#define EMBD_CLIENT_FAKE_TRANSPORT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "embd/client/transport.h"

namespace embd::client {

/// A model of FakeTransport.
struct FakeModel {
  std::string name = {};
  /// D; at least 1.
  std::int64_t embedding_dim = 0;
  /// (V, D), row-major.
  std::vector<float> token = {};
  /// Rows of D, row-major; empty: none.
  std::vector<float> position = {};
  /// V words, or none.
  std::vector<std::string> vocabulary = {};
  std::string version = "1";
  /// What ListModels and DescribeModel say. kUnspecified: kLearned with a position table, else kNone.
  PositionEncoding position_encoding = PositionEncoding::kUnspecified;
  /// (S, D), row-major; empty: no token types. Added before the position.
  std::vector<float> token_type = {};
  /// The factor of token rows.
  float token_scale = 1;
  /// D each; empty: no LayerNorm.
  std::vector<float> layer_norm_weight = {};
  std::vector<float> layer_norm_bias = {};
  double layer_norm_eps = 1e-5;
  /// How positions are numbered; kUnspecified: kSequential. kPadding needs padding_idx.
  PositionNumbering numbering = PositionNumbering::kUnspecified;
  std::int64_t row_offset = 0;
  std::optional<std::int64_t> padding_idx = {};
  /// Its rotary encoding; unset: none. With one, position_encoding kUnspecified means kRotary.
  std::optional<RotaryParameters> rotary = {};
  std::map<std::string, RotaryParameters> rotary_layer_types = {};
  /// What replies and DescribeModel say of all its tables, and if_checksum must be.
  std::string checksum = "fake";
  /// How its results are projected, as DescribeModel tells it; the bias is V numbers, or none.
  bool output_tied = true;
  double output_scale = 1;
  std::optional<double> output_softcap = {};
  std::vector<float> output_bias = {};
};

/// A transport in memory, for tests of code that uses a Client:
///
///     auto fake = std::make_shared<embd::client::FakeTransport>();
///     fake->AddModel({.name = "tiny", .embedding_dim = 2, .token = {0, 1, 2, 3}});
///     CodeUnderTest(embd::client::Client(fake));
///
/// It composes rows, ragged ones too, turns vectors and narrows to 16 bits as a server does, and refuses what a server
/// refuses with the same code and reason; its messages are shorter. LayerNorm is computed in double and may differ from
/// a server's in the last bits. Of the limits it keeps those of batch, sequence and response. Timeouts and chunks mean
/// nothing to it, but a requested stop cancels. Loading a model again counts its generation, unloading it makes it
/// unavailable until it is loaded. It maps no shared memory, as a server whose regions are off, and has no
/// ShiftProperty.
///
/// Thread safety: thread-safe.
class FakeTransport : public Transport {
 public:
  FakeTransport();
  ~FakeTransport() override;

  /// Serves `model` from now on, in place of one of the same name. Tables whose size is no multiple of embedding_dim
  /// lose the rest.
  void AddModel(FakeModel model);

  /// The next `calls` calls of whatever kind, also the next sent items of streams, get `status`, which is not OK.
  void FailNext(absl::Status status, int calls = 1);

  /// What GetServerInfo answers, and the limits from now on; a limit of 0 is none.
  void SetServerInfo(ServerInfo info);

  /// What ReloadConfig answers; unless set, that all models are unchanged.
  void SetReload(ReloadReport report);

  /// What CheckHealth answers. Unless set, "" and the names of models are kServing and all else is NOT_FOUND.
  void SetHealth(const std::string& service, HealthStatus health);

  /// The embed requests seen so far, by any kind of call, also those that failed.
  [[nodiscard]] std::vector<EmbedRequest> embed_requests() const;

  /// Calls seen so far by name, e.g. calls("ListModels"); an item sent in a stream counts as "Send".
  [[nodiscard]] int calls(const std::string& method) const;

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
  class State;  // shared with the streams that are open
  std::shared_ptr<State> state_;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_FAKE_TRANSPORT_H_
