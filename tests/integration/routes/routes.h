#ifndef EMBD_TESTS_INTEGRATION_ROUTES_ROUTES_H_
#define EMBD_TESTS_INTEGRATION_ROUTES_ROUTES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "embd/client/shared_region.h"
#include "embd/v1/embedding.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "inference/grpc_service.grpc.pb.h"
#include "server/config/server_config.h"
#include "server/core/engine/embed_input.h"
#include "server/core/engine/model_registry.h"
#include "tests/integration/oip/infer_call.h"

namespace embd::testing {

/// What a route of embd.v1 answers: a reply as Embed gives it, or the refusal.
using Answer = absl::StatusOr<v1::EmbedResponse>;
/// The same of the Open Inference Protocol: a reply with raw contents.
using InferAnswer = absl::StatusOr<::inference::ModelInferResponse>;

/// Each way to ask for a result: the engine alone, over models built here, and a server through its Unix socket.
///
/// Not thread-safe.
class Routes {
 public:
  /// Of a server of `config`, which maps regions. Ends the program where a model cannot be built, or the server does
  /// not map a region.
  Routes(const std::string& address, const config::ServerConfig& config);

  /// The engine knows no if_checksum and no regions.
  [[nodiscard]] Answer Core(v1::EmbedRequest request) const;
  [[nodiscard]] Answer Embed(const v1::EmbedRequest& request) const;
  /// Into a region of shared memory, which is poisoned before. INTERNAL where a refused request has written there.
  [[nodiscard]] Answer EmbedToRegion(v1::EmbedRequest request) const;
  /// The blocks of rows joined. INTERNAL where they are not in order.
  [[nodiscard]] Answer EmbedChunks(const v1::EmbedRequest& request, std::int64_t max_chunk_bytes) const;
  /// One stream, an item for each request; no more than 64, which the server answers before any is read.
  [[nodiscard]] std::vector<Answer> EmbedStream(const std::vector<v1::EmbedRequest>& requests) const;

  [[nodiscard]] absl::StatusOr<v1::EmbedBagsResponse> EmbedBags(const v1::EmbedBagsRequest& request) const;

  [[nodiscard]] InferAnswer Infer(const ::inference::ModelInferRequest& request) const;
  /// Inputs are read from the region, and outputs go there.
  [[nodiscard]] InferAnswer InferInRegion(const InferCall& call) const;
  /// As EmbedStream; a refusal has the message only, and the code UNKNOWN.
  [[nodiscard]] std::vector<InferAnswer> InferStream(const std::vector<::inference::ModelInferRequest>& requests) const;

  /// The region that the routes use.
  [[nodiscard]] const std::string& region() const { return region_->name(); }

 private:
  // Hands out what a result wrote at `offset`, and poisons it again.
  [[nodiscard]] std::string TakeResult(std::int64_t offset, std::int64_t byte_size) const;

  core::ModelRegistry models_;
  core::EmbedLimits limits_;
  std::unique_ptr<v1::EmbeddingService::Stub> own_;
  std::unique_ptr<::inference::GRPCInferenceService::Stub> other_;
  std::unique_ptr<client::SharedRegion> region_;
};

}  // namespace embd::testing

#endif  // EMBD_TESTS_INTEGRATION_ROUTES_ROUTES_H_
