#ifndef EMBD_CLIENT_EXPLAIN_H_
#define EMBD_CLIENT_EXPLAIN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace embd::client {

/// Asks how the embedding of one cell of a batch comes about.
struct ExplainCellRequest {
  /// As in EmbedRequest, and so are all up to attention_mask.
  std::string model = {};
  std::vector<std::int64_t> ids = {};
  std::int64_t batch_size = 0;
  std::int64_t sequence_length = 0;
  std::vector<std::int64_t> position_offsets = {};
  std::vector<std::int64_t> position_ids = {};
  std::vector<std::int64_t> token_type_ids = {};
  std::vector<std::int64_t> row_lengths = {};
  std::vector<std::int64_t> attention_mask = {};
  /// The cell.
  std::int64_t batch_index = 0;
  std::int64_t sequence_index = 0;
  /// Empty: the version that is served.
  std::string model_version = {};
};

/// What is added, and what comes of it. Every list has D values; those that the model has not are empty.
struct CellExplanation {
  std::string model = {};
  std::string model_version = {};
  std::int64_t id = 0;
  /// The row of the token table; unset where the id has a row of zeros.
  std::optional<std::int64_t> token_row = {};
  /// Its word; empty without a vocabulary.
  std::string token = {};
  double token_scale = 1;
  /// The row as it is stored, and times token_scale.
  std::vector<float> token_values = {};
  std::vector<float> scaled_values = {};
  /// Unset where no type is added.
  std::optional<std::int64_t> token_type = {};
  std::vector<float> token_type_values = {};
  /// Unset where the input stage has no positions, or adds none.
  std::optional<std::int64_t> position = {};
  std::optional<std::int64_t> position_row = {};
  std::vector<float> position_values = {};
  std::vector<float> sum = {};
  bool position_before_type = false;
  /// Unset and empty without LayerNorm.
  std::optional<double> layer_norm_mean = {};
  std::optional<double> layer_norm_variance = {};
  std::optional<double> layer_norm_eps = {};
  std::vector<float> layer_norm_weight = {};
  std::vector<float> layer_norm_bias = {};
  /// What Embed returns for the cell.
  std::vector<float> embedding = {};
  /// Whether the cell is masked and so became zero.
  bool zeroed = false;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_EXPLAIN_H_
