#ifndef EMBD_CLIENT_NEAREST_H_
#define EMBD_CLIENT_NEAREST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "embd/client/enums.h"
#include "embd/client/input_tensor.h"

namespace embd::client {

/// Rows that are added, less others; with Metric::kCosine each counts as a vector of length 1.
struct Analogy {
  std::vector<std::int64_t> plus_ids = {};
  std::vector<std::int64_t> minus_ids = {};
  std::vector<std::string> plus_tokens = {};
  std::vector<std::string> minus_tokens = {};
};

/// Asks for the rows nearest to each of N queries: exactly one of ids, tokens, analogies and vectors is given.
struct NearestTokensRequest {
  /// Name of a served model. Required.
  std::string model = {};
  std::vector<std::int64_t> ids = {};
  std::vector<std::string> tokens = {};
  std::vector<Analogy> analogies = {};
  /// (N, D) or (D), in a float type.
  std::optional<InputTensor> vectors = {};
  /// How many rows a query; 0: 10.
  std::int32_t top_k = 0;
  Metric metric = Metric::kCosine;
  /// kUnspecified: the token table.
  TableKind table = TableKind::kUnspecified;
  /// List the rows that a query names, too.
  bool include_queries = false;
  /// Name the rows' words, too.
  bool with_tokens = false;
  /// The version that is meant; empty: the one that is served.
  std::string model_version = {};
};

/// A row that is near.
struct NearRow {
  std::int64_t id = 0;
  /// Its word; empty unless asked for.
  std::string token = {};
  /// The cosine, dot product or distance.
  double score = 0;
};

/// The nearest rows.
struct NearestTokens {
  std::string model = {};
  std::string model_version = {};
  TableKind table = TableKind::kUnspecified;
  /// For each query its rows, the nearest first.
  std::vector<std::vector<NearRow>> queries = {};
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_NEAREST_H_
