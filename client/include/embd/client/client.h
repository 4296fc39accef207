#ifndef EMBD_CLIENT_CLIENT_H_
#define EMBD_CLIENT_CLIENT_H_

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
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
#include "embd/client/stream.h"
#include "embd/client/transport.h"

namespace embd::client {

/// Asks an embd server.
///
///     auto client = embd::client::Client::Connect("localhost:8001");
///     auto result = client->Embed({.model = "gpt2", .ids = {464, 3290}, .batch_size = 1, .sequence_length = 2});
///     auto values = result->As<float>();
///
/// A copyable value; copies share one connection. When the last copy goes away it waits for the calls of EmbedAsync
/// that are under way; streams outlive it. Thread safety: thread-safe.
///
/// Errors: every call returns the code and message of the server, and `ErrorReason` (error.h) tells the reason; the
/// .proto files list them. Besides: UNAVAILABLE when the server cannot be reached, DEADLINE_EXCEEDED and CANCELLED as
/// CallOptions say, INTERNAL when a reply makes no sense.
class Client {
 public:
  /// Prepares a connection of its own, which is made by the first call; so a server that is not there is found out
  /// then.
  ///
  /// `address` is one of
  ///   HOST:PORT, [IPV6]:PORT        a name stands for all its addresses
  ///   IP:PORT,IP:PORT,…             several servers, all IPv4 or all IPv6
  ///   unix:PATH, unix:///PATH, unix-abstract:NAME
  ///   dns:///HOST:PORT, ipv4:IP:PORT,…, ipv6:[IP]:PORT,…   as gRPC names them
  /// Several addresses take calls in turn. The connection is encrypted where ClientOptions::tls says so.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  the address is none of these; an option is outside its range; a file of TLS or of the token
  ///                     cannot be used.
  [[nodiscard]] static absl::StatusOr<Client> Connect(absl::string_view address, const ClientOptions& options = {});

  /// Asks through `transport`, which is not null.
  explicit Client(std::shared_ptr<Transport> transport);

  /// Embeds one batch into memory of its own. Large tensors come in blocks of rows, see CallOptions::chunks.
  [[nodiscard]] absl::StatusOr<Embedding> Embed(const EmbedRequest& request, const CallOptions& options = {}) const;

  /// Embeds one batch into `out`, whose size must be exactly that of the tensor. The bytes are copied once, from the
  /// received messages to `out`. Nothing is written where the request is refused, or where the tensor comes as one
  /// message and the call fails; a call that fails after the first block of rows leaves unspecified content.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  `out` has another size than the tensor; the message names both.
  [[nodiscard]] absl::StatusOr<EmbedInfo> EmbedInto(const EmbedRequest& request, std::span<std::byte> out,
                                                    const CallOptions& options = {}) const;

  /// The same for FLOAT32.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  the request asks for another type, or `out` has another size than the tensor.
  [[nodiscard]] absl::StatusOr<EmbedInfo> EmbedInto(const EmbedRequest& request, std::span<float> out,
                                                    const CallOptions& options = {}) const;

  /// Embeds one batch and shows the tensor, without a copy, where it was received: `visit` is called with its bytes
  /// piece by piece, in order, on this thread. Pieces are never empty and may end anywhere, also within an element;
  /// together they are the tensor, and one without elements has none. A piece is valid during its call only; `info`
  /// tells of the whole tensor.
  ///
  /// A call that fails may have shown some pieces. One that breaks off goes on behind what has been shown.
  ///
  /// Errors: what `visit` returns other than OK ends the call and is returned as it is. Besides
  ///   FAILED_PRECONDITION  [TABLES_CHANGED] the call broke off, and the tables are others now.
  [[nodiscard]] absl::StatusOr<EmbedInfo> EmbedSlices(const EmbedRequest& request, const Transport::Visit& visit,
                                                      const CallOptions& options = {}) const;

  /// Embeds one batch into a region of shared memory: request.output_target says where, and the info's `written` what
  /// of it was written. Through Unix sockets only. On an error nothing was written, except that after CANCELLED,
  /// DEADLINE_EXCEEDED and the reasons TABLE_DAMAGED and REGION_DAMAGED what stands there is unspecified. A call that
  /// has ended by its timeout may still be written for: use other memory, or wait, before the place is used again.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  the request has no output_target.
  [[nodiscard]] absl::StatusOr<EmbedInfo> EmbedToRegion(const EmbedRequest& request,
                                                        const CallOptions& options = {}) const;

  /// Embeds one batch, received as one message, without blocking a thread. `done` is called exactly once, on the one
  /// thread that completes all such calls of a client, or before this returns; it must not block, but may make further
  /// calls of this kind and may drop the client. A `done` that makes further calls should hold a copy of the client,
  /// not a reference: the client it came from may be gone by then. `CallOptions::cancel` cancels it.
  void EmbedAsync(const EmbedRequest& request, std::function<void(absl::StatusOr<Embedding>)> done,
                  const CallOptions& options = {}) const;

  /// The same with a future. Dropping the future neither blocks nor cancels.
  [[nodiscard]] std::future<absl::StatusOr<Embedding>> EmbedAsync(const EmbedRequest& request,
                                                                  const CallOptions& options = {}) const;

  /// Opens a stream of batches. `options` hold for the stream as a whole.
  [[nodiscard]] absl::StatusOr<EmbedStream> OpenStream(const CallOptions& options = {}) const;

  /// Turns vectors by a rotary position encoding, of a model or of given parameters.
  [[nodiscard]] absl::StatusOr<RotatedVectors> Rotate(const RotateRequest& request,
                                                      const CallOptions& options = {}) const;

  /// The cosines and sines by which Rotate turns, for callers that turn vectors themselves.
  [[nodiscard]] absl::StatusOr<client::RotaryTable> RotaryTable(const RotaryTableRequest& request,
                                                                const CallOptions& options = {}) const;

  /// The models that are served, in order of name.
  [[nodiscard]] absl::StatusOr<std::vector<ModelSummary>> ListModels(const CallOptions& options = {}) const;

  /// All about one model.
  [[nodiscard]] absl::StatusOr<ModelDescription> DescribeModel(const DescribeModelRequest& request,
                                                               const CallOptions& options = {}) const;

  /// The ids of words, through the model's vocabulary.
  [[nodiscard]] absl::StatusOr<TokenIds> LookUpTokens(const LookUpTokensRequest& request,
                                                      const CallOptions& options = {}) const;

  /// How alike rows of a table are that lie k apart.
  [[nodiscard]] absl::StatusOr<NeighbourCurve> NeighbourSimilarity(const NeighbourSimilarityRequest& request,
                                                                   const CallOptions& options = {}) const;

  /// Bags of ids, each pooled to one vector, for one or many models.
  [[nodiscard]] absl::StatusOr<PooledBags> EmbedBags(const EmbedBagsRequest& request,
                                                     const CallOptions& options = {}) const;

  /// The gradient of a model's tables, given that of its output.
  [[nodiscard]] absl::StatusOr<Gradients> Gradient(const GradientRequest& request,
                                                   const CallOptions& options = {}) const;

  /// Vectors against the model's output projection: the best ids and their scores.
  [[nodiscard]] absl::StatusOr<Projection> Project(const ProjectRequest& request,
                                                   const CallOptions& options = {}) const;

  /// Mean, deviation, norms of a table, and what is wrong with it.
  [[nodiscard]] absl::StatusOr<client::TableStatistics> TableStatistics(const TableStatisticsRequest& request,
                                                                        const CallOptions& options = {}) const;

  /// The cosine of each pair of up to 1024 rows.
  [[nodiscard]] absl::StatusOr<client::CosineSimilarities> CosineSimilarities(const CosineSimilaritiesRequest& request,
                                                                              const CallOptions& options = {}) const;

  /// The rows of a table that are nearest to rows, words, analogies or vectors.
  [[nodiscard]] absl::StatusOr<client::NearestTokens> NearestTokens(const NearestTokensRequest& request,
                                                                    const CallOptions& options = {}) const;

  /// How fast each pair of columns of a position encoding turns.
  [[nodiscard]] absl::StatusOr<client::PositionWavelengths> PositionWavelengths(
      const PositionWavelengthsRequest& request, const CallOptions& options = {}) const;

  /// Whether a shift by k positions is one linear map for all positions.
  [[nodiscard]] absl::StatusOr<client::ShiftProperty> ShiftProperty(const ShiftPropertyRequest& request,
                                                                    const CallOptions& options = {}) const;

  /// How the embedding of one cell of a batch comes about, number by number.
  [[nodiscard]] absl::StatusOr<CellExplanation> ExplainCell(const ExplainCellRequest& request,
                                                            const CallOptions& options = {}) const;

  /// Version, limits and capabilities of the server.
  [[nodiscard]] absl::StatusOr<ServerInfo> GetServerInfo(const CallOptions& options = {}) const;

  /// Has the server load a model of its configuration, again where it is served, and waits until it is in the place of
  /// the old one. Calls under way keep the old tables; every reply is wholly of one generation. Where the load fails,
  /// what is served stays; where the timeout passes first, the load goes on. Needs server.model_control: explicit.
  [[nodiscard]] absl::StatusOr<LoadedModel> LoadModel(const std::string& name, const CallOptions& options = {}) const;

  /// Has the server take a model out of service: calls for it are UNAVAILABLE [MODEL_NOT_LOADED] until it is loaded
  /// again. Needs server.model_control: explicit.
  [[nodiscard]] absl::Status UnloadModel(const std::string& name, const CallOptions& options = {}) const;

  /// Has the server read its configuration again and follow it, as SIGHUP does. OK where the configuration is right:
  /// models that could not be loaded are among ReloadReport::failures.
  [[nodiscard]] absl::StatusOr<ReloadReport> ReloadConfig(const CallOptions& options = {}) const;

  /// Has the server map a file of shared memory under a name; SharedRegion (shared_region.h) makes the file too. The
  /// region stays until it is unregistered or the server ends, also where the caller ends before. Through Unix sockets
  /// only, and where the server's configuration allows it.
  [[nodiscard]] absl::Status RegisterRegion(const Region& region, const CallOptions& options = {}) const;

  /// Has the server forget a region. It unmaps it once the calls that write to it have ended.
  [[nodiscard]] absl::Status UnregisterRegion(const std::string& name, const CallOptions& options = {}) const;

  /// The regions that are registered, in order of name.
  [[nodiscard]] absl::StatusOr<std::vector<Region>> ListRegions(const CallOptions& options = {}) const;

  /// Health of `service`: "" for the whole server, or the name of a service or model.
  ///
  /// Errors:
  ///   NOT_FOUND  the server knows no such service.
  [[nodiscard]] absl::StatusOr<HealthStatus> CheckHealth(const std::string& service = "",
                                                         const CallOptions& options = {}) const;

 private:
  std::shared_ptr<Transport> transport_;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_CLIENT_H_
