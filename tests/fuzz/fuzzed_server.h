#ifndef EMBD_TESTS_FUZZ_FUZZED_SERVER_H_
#define EMBD_TESTS_FUZZ_FUZZED_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "embd/v1/tensor.pb.h"
#include "grpcpp/grpcpp.h"
#include "server/app/embedding_server.h"

namespace embd::fuzz {

/// The real server, started once for all inputs, with small models of every kind and small limits:
///   tiny    10 rows of width 4, 8 learned positions, 2 token types, LayerNorm
///   masked  positions are computed, grow to 32 and are counted by the mask; ids out of range are zeros
///   padded  positions are counted from padding_idx 1; ids out of range are id 3
///   turned  rotary, with a layer type "local" that is scaled
/// Calls go through no socket, and otherwise as any caller's.
class FuzzedServer {
 public:
  /// Never destroyed: its threads end with the process.
  static FuzzedServer& Get();

  /// The reply to a unary call, e.g. of "/embd.v1.EmbeddingService/Embed", or its refusal.
  [[nodiscard]] absl::StatusOr<std::string> Call(const std::string& method, absl::string_view request);

  /// How a stream ended, and what was answered before.
  struct Answers {
    std::vector<std::string> items;
    absl::Status status;
  };
  [[nodiscard]] Answers Stream(const std::string& method, const std::vector<std::string>& requests);

 private:
  FuzzedServer();

  std::unique_ptr<app::EmbeddingServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

/// A refusal that is the caller's fault, or that a limit explains: none of these requests may end otherwise.
void CheckRefused(const absl::Status& status);

/// The tensor has just the bytes that its shape and type need.
void CheckTensor(const v1::Tensor& tensor);

}  // namespace embd::fuzz

#endif  // EMBD_TESTS_FUZZ_FUZZED_SERVER_H_
