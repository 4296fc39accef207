#ifndef EMBD_CLIENT_GRADIENT_H_
#define EMBD_CLIENT_GRADIENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "embd/client/enums.h"
#include "embd/client/input_tensor.h"
#include "embd/client/output_tensor.h"

namespace embd::client {

/// What a tied output projection saw; the loss is the mean of the cross entropies.
struct OutputSide {
  /// N ids.
  std::vector<std::int64_t> target_ids = {};
  /// FLOAT32 (N, D).
  InputTensor hidden = {};
};

/// A batch as EmbedRequest has it, and the gradient of a loss with respect to its embeddings.
struct GradientRequest {
  /// As in EmbedRequest, and so are all fields here that have its names.
  std::string model = {};
  std::vector<std::int64_t> ids = {};
  std::int64_t batch_size = 0;
  std::int64_t sequence_length = 0;
  /// Empty: all that the part reads.
  std::vector<TableKind> tables = {};
  Part part = Part::kComposed;
  std::vector<std::int64_t> position_offsets = {};
  std::vector<std::int64_t> position_ids = {};
  std::vector<std::int64_t> token_type_ids = {};
  std::vector<std::int64_t> row_lengths = {};
  std::vector<std::int64_t> attention_mask = {};
  std::string model_version = {};
  /// dLoss/dOutput: FLOAT32 (B, T, D), or (sum of row_lengths, D).
  std::optional<InputTensor> output_gradient = {};
  /// The gradient through the output projection in place of all that: excludes the batch and output_gradient.
  std::optional<OutputSide> output_side = {};
};

/// The gradient of one table.
struct TableGradient {
  TableKind table = TableKind::kUnspecified;
  /// Whether the table learns; a computed one has no rows here.
  bool trainable = false;
  std::int64_t table_rows = 0;
  /// How many of them have a gradient.
  std::int64_t touched_rows = 0;
  /// Those rows, ascending, and how many cells named each; both empty for an output side, which touches all.
  std::vector<std::int64_t> row_ids = {};
  std::vector<std::int64_t> counts = {};
  /// Norms of the gradient rows.
  std::vector<double> row_norms = {};
  /// (touched_rows, D) FLOAT32; without elements for an output side.
  OutputTensor rows = {};
};

/// The gradients of a model's tables.
struct Gradients {
  std::string model = {};
  std::string model_version = {};
  /// In the order asked for.
  std::vector<TableGradient> tables = {};
  /// Of an output side: the loss.
  std::optional<double> loss = {};
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_GRADIENT_H_
