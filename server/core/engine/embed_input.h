#ifndef EMBD_SERVER_CORE_ENGINE_EMBED_INPUT_H_
#define EMBD_SERVER_CORE_ENGINE_EMBED_INPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/tensor/element_type.h"

namespace embd::core {

/// What of the composition is asked for.
enum class Part { kComposed, kToken, kPosition };

/// Vectors that take the place of scaled token rows: row-major, little-endian, not checked yet.
struct GivenVectors {
  ElementType type = ElementType::kFloat32;
  std::vector<std::int64_t> shape;  ///< (B, T, D), or (cells, D) for ragged rows
  std::string data;                 ///< the elements' bytes
};

/// One batch as a caller describes it, not checked yet. Field names are those of embd.v1.EmbedRequest; "a cell" is one
/// of B * T, or of sum(row_lengths).
struct EmbedInput {
  Part part = Part::kComposed;
  ElementType output_type = ElementType::kFloat32;
  std::int64_t batch_size = 0;
  std::int64_t sequence_length = 0;
  std::vector<std::int64_t> ids;               ///< one a cell; may be empty for kPosition and with inputs_embeds
  const char* ids_name = "ids";                ///< what messages call them; a literal
  std::vector<std::int64_t> position_offsets;  ///< none, one, or B
  std::vector<std::int64_t> position_ids;      ///< none, one a cell, or T where rows are not ragged
  std::vector<std::int64_t> token_type_ids;    ///< none, or one a cell
  std::vector<std::int64_t> attention_mask;    ///< none, or one a cell: 0 or 1
  std::vector<std::int64_t> row_lengths;       ///< none, or B: rows are ragged
  bool packed = false;                         ///< ragged rows one after the other; false: padded to the longest
  bool pad_left = false;                       ///< padding before the row; false: behind it
  std::optional<GivenVectors> inputs_embeds;
  bool unique = false;  ///< the rows of the distinct ids only, for kToken
  /// Whether the model's LayerNorm, where it has one, is part of kComposed; false: the sum that goes into it.
  bool layer_norm = true;
  /// Whether ids that are out of range, and read as something else, are counted: false for one that is planned again.
  bool counts_out_of_range = true;
};

/// What a request may ask for.
struct EmbedLimits {
  std::int64_t max_batch_size = 0;
  std::int64_t max_sequence_length = 0;
  std::int64_t max_response_bytes = 0;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_EMBED_INPUT_H_
