#ifndef EMBD_CLIENT_DIAGNOSTICS_H_
#define EMBD_CLIENT_DIAGNOSTICS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "embd/client/enums.h"
#include "embd/client/rotary.h"

// What DiagnosticsService asks and answers. V = vocab_size, D = embedding_dim, L = max_context_length.
namespace embd::client {

/// One line about a model.
struct ModelSummary {
  std::string name = {};
  std::string version = {};
  /// How often it has been loaded: 1 at first.
  std::int64_t generation = 0;
  PositionEncoding position_encoding = PositionEncoding::kUnspecified;
  std::int64_t vocab_size = 0;
  std::int64_t embedding_dim = 0;
  /// The positions that the position table has room for; unset where there is none.
  std::optional<std::int64_t> max_context_length = {};
  /// The stored type of the token table.
  DataType data_type = DataType::kUnspecified;
  /// Bytes and trainable parameters of all its tables.
  std::int64_t byte_size = 0;
  std::int64_t parameter_count = 0;
};

/// One table of a model.
struct TableDescription {
  TableKind kind = TableKind::kUnspecified;
  /// The stored type.
  DataType data_type = DataType::kUnspecified;
  /// Rows and D.
  std::vector<std::int64_t> shape = {};
  /// Rows x D, and how many of them are trainable.
  std::int64_t element_count = 0;
  std::int64_t parameter_count = 0;
  std::int64_t byte_size = 0;
  /// SHA-256 (hex) of the stored elements.
  std::string checksum = {};
  /// Where the rows come from: a file's path, or how they were computed.
  std::string source = {};
};

/// Where the value of a key of the model's configuration comes from.
struct InferredValue {
  /// The key, as the configuration spells it, e.g. "position.learned.tensor".
  std::string key = {};
  /// The value, e.g. "wpe.weight".
  std::string value = {};
  /// What says so, e.g. "model_type gpt2".
  std::string source = {};
};

/// Asks about one model.
struct DescribeModelRequest {
  std::string model = {};
  /// Empty: the version that is served.
  std::string model_version = {};
};

/// All about one model.
struct ModelDescription {
  std::string name = {};
  std::string version = {};
  std::int64_t generation = 0;
  /// SHA-256 (hex) over the tables, and the settings that are not the defaults.
  std::string checksum = {};
  PositionEncoding position_encoding = PositionEncoding::kUnspecified;
  std::int64_t vocab_size = 0;
  std::int64_t embedding_dim = 0;
  /// The positions that the position table has room for: its rows, less those that the numbering never uses; unset
  /// where there is no table.
  std::optional<std::int64_t> max_context_length = {};
  /// Token first, then position, then token type.
  std::vector<TableDescription> tables = {};
  /// Trainable parameters of all tables.
  std::int64_t parameter_count = 0;
  /// Words of the vocabulary; 0 where the model has none.
  std::int64_t vocabulary_words = 0;
  /// The base of a sinusoidal table's wavelengths; unset for other encodings.
  std::optional<double> sinusoidal_base = {};
  /// Unset unless the encoding is rotary.
  std::optional<RotaryParameters> rotary = {};
  /// Layers that have rotary parameters of their own.
  std::vector<RotaryLayerType> rotary_layer_types = {};
  /// What was not spelled out but found in the model's folder or file: one entry a key.
  std::vector<InferredValue> inferred_from = {};
  /// The model_type or architecture that the model's folder or file names; empty where there is none.
  std::string architecture = {};
  /// How positions are numbered; unset where there is no position table.
  PositionNumbering numbering = PositionNumbering::kUnspecified;
  /// Added to every position to get the table's row.
  std::int64_t row_offset = 0;
  /// The id of padding; unset: none.
  std::optional<std::int64_t> padding_idx = {};
  /// The factor of token rows, a float; 1: none.
  double token_scale = 1;
  /// Layout of a sinusoidal table; unset for other encodings.
  SinusoidalLayout sinusoidal_layout = SinusoidalLayout::kUnspecified;
  /// The context length that the model was trained with; unset: not known.
  std::optional<std::int64_t> trained_context_length = {};
  /// Whether a token type's row is added, whether type ids name rows of the token table, and whether nothing is added
  /// where a request gives no types.
  bool has_token_types = false;
  bool token_types_share_token_table = false;
  bool token_types_only_when_sent = false;
  /// Whether the position's row is added before the token type's.
  bool position_before_type = false;
  /// Epsilon of the LayerNorm after the sum; unset: there is none.
  std::optional<double> layer_norm_eps = {};
  /// Whether cells that attention_mask masks become zero after everything.
  bool zero_masked = false;
  /// Whether a finite result that the output type would round to infinity becomes its largest finite value instead.
  bool saturate = false;
  /// What an id outside [0, V) does, the row that stands in with kUnk, and how many such ids the model has been asked
  /// for since it was loaded and has not refused.
  OutOfRangePolicy out_of_range = OutOfRangePolicy::kUnspecified;
  std::optional<std::int64_t> unk_id = {};
  std::int64_t out_of_range_ids = 0;
  /// The id of <mask> in a model that was trained with ESM's token_dropout; unset: none.
  std::optional<std::int64_t> dropout_mask_id = {};
  /// What a user of the model should know.
  std::vector<std::string> notes = {};
  /// Whether it projects its results by its token table, as Client::Project does, what dot products are multiplied by,
  /// the bound of the scores (unset: none), and whether each row's score has a bias.
  bool output_tied = false;
  double output_scale = 1;
  std::optional<double> output_softcap = {};
  bool has_output_bias = false;
};

/// Asks for the ids of words.
struct LookUpTokensRequest {
  std::string model = {};
  /// The words, exactly as the vocabulary spells them.
  std::vector<std::string> tokens = {};
  /// Empty: the version that is served.
  std::string model_version = {};
};

/// The ids of words.
struct TokenIds {
  std::string model = {};
  std::string model_version = {};
  /// One id a word, in the order of the words.
  std::vector<std::int64_t> ids = {};
};

/// Asks for the neighbour curve of a table.
struct NeighbourSimilarityRequest {
  std::string model = {};
  /// kUnspecified: the position table.
  TableKind table = TableKind::kUnspecified;
  /// The largest offset K; 0: the server's default, 8 or fewer.
  std::int64_t max_offset = 0;
  /// The first row that is looked at, and how many from there on; 0 rows: all.
  std::int64_t first_row = 0;
  std::int64_t row_count = 0;
  /// Empty: the version that is served.
  std::string model_version = {};
};

/// The cosine of row p and row p + k over all p. Each list has one value for each offset k = 1 … K.
struct NeighbourCurve {
  std::string model = {};
  std::string model_version = {};
  TableKind table = TableKind::kUnspecified;
  /// The rows that were looked at.
  std::int64_t rows = 0;
  std::vector<double> mean_cosine = {};
  std::vector<double> min_cosine = {};
  std::vector<double> max_cosine = {};
  /// What the formula of a sinusoidal table says; empty for other tables.
  std::vector<double> closed_form = {};
  /// Rows whose norm is below 1e-8.
  std::int64_t zero_rows = 0;
  /// For how many k < K the mean does not rise by more than 1e-3.
  std::int32_t monotone_steps = 0;
};

/// What a request may ask of a server.
struct ServerLimits {
  std::int64_t max_request_bytes = 0;
  std::int64_t max_response_bytes = 0;
  std::int64_t max_batch_size = 0;
  std::int64_t max_sequence_length = 0;
  std::int64_t max_bytes_in_flight = 0;
};

/// About a server.
struct ServerInfo {
  /// Semantic version, e.g. "0.1.0".
  std::string version = {};
  /// Compiler and build type.
  std::string build = {};
  /// Grows by one with each addition to the API.
  std::int32_t api_revision = 0;
  /// Names of features that not every server has.
  std::vector<std::string> capabilities = {};
  std::string simd_target = {};
  ServerLimits limits = {};
  /// How the paths of regions of shared memory must begin; empty: the server maps none.
  std::string shared_memory_prefix = {};
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_DIAGNOSTICS_H_
