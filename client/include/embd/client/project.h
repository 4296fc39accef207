#ifndef EMBD_CLIENT_PROJECT_H_
#define EMBD_CLIENT_PROJECT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "embd/client/input_tensor.h"

namespace embd::client {

/// Vectors to be scored against a model's output projection; project.proto has the formula.
struct ProjectRequest {
  /// Name of a served model. Required.
  std::string model = {};
  /// (N, D) or (D), in a float type.
  InputTensor vectors = {};
  /// How many ids a vector; 0: 10, or fewer in a small table.
  std::int32_t top_k = 0;
  /// In place of the model's own.
  std::optional<double> scale = {};
  std::optional<double> softcap = {};
  /// Dot products alone.
  bool raw_scores = false;
  /// Logarithms of the softmax over all rows in place of scores.
  bool log_probabilities = false;
  /// Score these ids in place of the best ones. Excludes top_k.
  std::vector<std::int64_t> candidate_ids = {};
  /// Name the ids' words, too.
  bool with_tokens = false;
  /// The version that must answer; empty: the one that is served.
  std::string model_version = {};
};

/// The ids that score best.
struct Projection {
  std::string model = {};
  std::string model_version = {};
  /// Whether the model projects by its token table.
  bool tied = false;
  /// How many ids each vector got.
  std::int64_t k = 0;
  /// N x k, vector by vector, the best first; `tokens` are their words, or empty.
  std::vector<std::int64_t> ids = {};
  std::vector<std::string> tokens = {};
  std::vector<float> scores = {};
  /// With log_probabilities: one a vector.
  std::vector<float> log_sum_exp = {};
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_PROJECT_H_
