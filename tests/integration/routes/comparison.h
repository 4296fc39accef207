#ifndef EMBD_TESTS_INTEGRATION_ROUTES_COMPARISON_H_
#define EMBD_TESTS_INTEGRATION_ROUTES_COMPARISON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/integration/routes/routes.h"

namespace embd::testing {

/// "INVALID_ARGUMENT [ID_OUT_OF_RANGE]".
[[nodiscard]] std::string CodeAndReason(const absl::Status& status);

/// Sends the same requests by every route that can say them, and expects the same of all: the same bytes, or the same
/// code, reason and text. What is compared with what:
///
/// - embd.v1: Embed, EmbedStream, Embed into a region, EmbedChunks and the engine alone, all with one another. Left out
///   are EmbedChunks for `unique` and output_target, which it refuses by their names, and for RESPONSE_TOO_LARGE, a
///   limit that it has not; the region, where the request names one of its own; the engine, for if_checksum and
///   output_target, which it does not know.
/// - the Open Inference Protocol: ModelInfer with raw contents, with typed contents (where there is a field for the
///   datatype), with inputs and outputs in a region, and ModelStreamInfer (which has a text, but no code), all with one
///   another, whatever is wrong: names, datatypes, shapes, sizes, parameters, ids, models, versions.
/// - embd.v1 with the Open Inference Protocol, where HasInferForm: bytes, type, shape, version, checksum, generation
/// and
///   whether there are warnings; or code, reason and text, `ids` being called `input_ids`. Of models and versions that
///   are not there, and of batches beyond max_batch_size, code and reason only: Triton has sentences of its own for
///   them.
class Comparison {
 public:
  explicit Comparison(const Routes* routes) : routes_(*routes) {}

  /// Requests to a model of that width, no more than Routes::EmbedStream takes; what Embed answers.
  std::vector<Answer> Send(const std::vector<v1::EmbedRequest>& requests, std::int64_t embedding_dim);

  /// What ModelInfer with raw contents answers.
  std::vector<InferAnswer> Send(const std::vector<InferCall>& calls);

  /// How many requests have been sent, by all routes together.
  [[nodiscard]] std::int64_t sent() const { return sent_; }
  /// How many requests of embd.v1 were compared with those of the other protocol.
  [[nodiscard]] std::int64_t sent_in_other_words() const { return sent_in_other_words_; }

 private:
  void SendOneByOne(const v1::EmbedRequest& request, const Answer& expected);
  void SendOneByOne(const InferCall& call, const InferAnswer& expected);

  const Routes& routes_;
  std::int64_t sent_ = 0;
  std::int64_t sent_in_other_words_ = 0;
};

}  // namespace embd::testing

#endif  // EMBD_TESTS_INTEGRATION_ROUTES_COMPARISON_H_
