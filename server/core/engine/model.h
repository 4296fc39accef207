#ifndef EMBD_SERVER_CORE_ENGINE_MODEL_H_
#define EMBD_SERVER_CORE_ENGINE_MODEL_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/kernels/layer_norm.h"
#include "server/core/position/growing_rows.h"
#include "server/core/position/rotary.h"
#include "server/core/position/sinusoidal.h"
#include "server/core/table/table.h"
#include "server/core/table/vocabulary.h"

namespace embd::core {

/// How a model marks order. `kNone` and `kRotary` add nothing to token rows.
enum class PositionEncoding { kNone, kLearned, kSinusoidal, kRotary };

/// "none", "learned", "sinusoidal", "rotary".
[[nodiscard]] absl::string_view PositionEncodingName(PositionEncoding encoding);

/// A table and what is known about it.
struct ModelTable {
  Table table;
  std::string source;     ///< a file's path, or how the rows were computed
  bool trainable = true;  ///< false for computed tables
  std::string checksum;   ///< SHA-256 (hex) of table.bytes()

  /// Computes the checksum. Cost: one pass over the table.
  [[nodiscard]] static ModelTable Of(Table table, std::string source, bool trainable);
};

/// How cells are numbered; the table's row is the position plus `row_offset`. `offset` is the request's.
enum class Numbering {
  /// offset + t; with a mask, offset + the unmasked cells before this one, and 1 for masked cells (GPT-2).
  kSequential,
  /// offset + t, whatever the mask (BERT, BART).
  kFixed,
  /// padding_idx + offset + the cells up to this one that are no padding; padding itself has padding_idx (RoBERTa).
  kPadding,
  /// offset + the unmasked cells before this one, and -1 for masked cells (OPT).
  kMask,
};

/// "sequential", "fixed", "padding", "mask".
[[nodiscard]] absl::string_view NumberingName(Numbering numbering);

/// What an id outside [0, vocab_size) does: an error, a token row of zeros, or the row of unk_id.
enum class OutOfRangePolicy { kError, kZero, kUnk };

/// "error", "zero", "unk".
[[nodiscard]] absl::string_view OutOfRangePolicyName(OutOfRangePolicy policy);

/// Rows that are added by token type.
struct TokenTypes {
  std::optional<ModelTable> table;  ///< unset: type ids name rows of the token table, which are added unscaled
  bool only_when_sent = false;      ///< false: type 0 where a request gives none
};

/// Normalisation of the sum, and where its parameters come from.
struct ModelLayerNorm {
  LayerNormParameters parameters;
  std::string source;
};

/// How a model's results become scores of its token rows: scale · (vector . row), plus the row's bias, then
/// softcap · tanh(score / softcap).
struct ModelOutput {
  bool tied = true;               ///< false: another table than the token table is the model's projection
  double scale = 1.0;             ///< > 0
  std::optional<double> softcap;  ///< > 0; unset: none
  std::vector<float> bias;        ///< one a token row; empty: none
};

/// What was found out about a model rather than spelled out.
struct InferredValue {
  std::string key;
  std::string value;
  std::string source;
};

/// What a model is made of.
struct ModelParts {
  std::string name;
  std::string version = "1";
  std::int64_t generation = 1;
  ModelTable token;
  float token_scale = 1.0f;
  OutOfRangePolicy out_of_range = OutOfRangePolicy::kError;
  std::int64_t unk_id = 0;
  /// The id of <mask> in a model that was trained with token dropout: see Model::dropout_mask_id.
  std::optional<std::int64_t> dropout_mask_id;
  std::optional<TokenTypes> token_types;
  std::optional<ModelTable> position;
  PositionEncoding position_encoding = PositionEncoding::kNone;
  Numbering numbering = Numbering::kSequential;
  std::int64_t row_offset = 0;
  std::optional<std::int64_t> padding_idx;
  std::unique_ptr<GrowingRows> growth;  ///< rows behind those of `position`
  std::optional<SinusoidalFormula> sinusoidal;
  std::optional<RotaryParameters> rotary;
  std::map<std::string, RotaryParameters> rotary_layer_types;  ///< for layers that differ from `rotary`
  bool position_before_type = false;
  std::optional<ModelLayerNorm> layer_norm;
  bool zero_masked = false;  ///< cells that a mask masks are zero after everything
  bool saturate = false;     ///< see Model::saturate
  std::optional<std::int64_t> trained_context_length;
  ModelOutput output;
  std::optional<Vocabulary> vocabulary;
  std::string architecture;
  std::vector<InferredValue> inferred_from;
  std::vector<std::string> notes;
};

/// A named embedding stage: a token table and what is done around it.
///
/// Ownership: shared by the registry and by every call in flight; the last one frees the tables.
/// Thread safety: never changes after `Create`, but for a counter and rows of a position table that grows, both of
/// which any number of threads may use.
class Model {
 public:
  /// Errors:
  ///   INVALID_ARGUMENT  [INVALID_MODEL] tables of different embedding_dim; a position table that is missing, or too
  ///                     much, for the encoding, or that the numbering leaves no row of; ids outside the table;
  ///                     LayerNorm vectors of another length; an output scale or softcap that is no finite number
  ///                     above 0; an output bias or a vocabulary that are not as many as the token rows. The message
  ///                     names the model and both sides.
  [[nodiscard]] static absl::StatusOr<std::shared_ptr<const Model>> Create(ModelParts parts);

  [[nodiscard]] const std::string& name() const { return parts_.name; }
  [[nodiscard]] const std::string& version() const { return parts_.version; }
  [[nodiscard]] std::int64_t generation() const { return parts_.generation; }
  /// SHA-256 (hex) over a line "<kind> <type> <rows>x<dim> <table checksum>\n" for each table: token, position, token
  /// type, and those of LayerNorm as two rows of float32; then a line for each setting that changes results and is not
  /// the default. So equal checksums mean equal results.
  [[nodiscard]] const std::string& checksum() const { return checksum_; }
  [[nodiscard]] std::int64_t vocab_size() const { return parts_.token.table.rows(); }
  [[nodiscard]] std::int64_t embedding_dim() const { return parts_.token.table.dim(); }
  [[nodiscard]] const ModelTable& token() const { return parts_.token; }
  [[nodiscard]] float token_scale() const { return parts_.token_scale; }
  [[nodiscard]] OutOfRangePolicy out_of_range() const { return parts_.out_of_range; }
  [[nodiscard]] std::int64_t unk_id() const { return parts_.unk_id; }
  /// Where it is set, token rows of composed batches are those of ESM's token_dropout: <mask> has a row of zeros, and
  /// all rows are multiplied by 1 - 0.15 * 0.8 and divided by 1 - the share of <mask> among a row's cells, or among its
  /// unmasked ones where there is a mask.
  [[nodiscard]] std::optional<std::int64_t> dropout_mask_id() const { return parts_.dropout_mask_id; }
  [[nodiscard]] const std::optional<TokenTypes>& token_types() const { return parts_.token_types; }
  /// The table that type ids name rows of, or nothing where the model adds no types.
  [[nodiscard]] const Table* token_type_table() const;
  [[nodiscard]] PositionEncoding position_encoding() const { return parts_.position_encoding; }
  /// The table that is added by position, or nothing for `kNone` and `kRotary`.
  [[nodiscard]] const ModelTable* position() const { return parts_.position ? &*parts_.position : nullptr; }
  [[nodiscard]] Numbering numbering() const { return parts_.numbering; }
  [[nodiscard]] std::int64_t row_offset() const { return parts_.row_offset; }
  [[nodiscard]] std::optional<std::int64_t> padding_idx() const { return parts_.padding_idx; }
  /// The rows that positions may name, those that are still to grow among them; 0 where there is no position table.
  [[nodiscard]] std::int64_t position_rows() const;
  /// How many positions the table has room for: its rows less those that the numbering never counts to.
  [[nodiscard]] std::optional<std::int64_t> max_context_length() const;
  /// Position row `index`, in [0, position_rows()). One that is still to grow is computed.
  [[nodiscard]] const std::byte* position_row(std::int64_t index) const {
    const Table& table = parts_.position->table;
    return index < table.rows() ? table.row(index) : parts_.growth->row(index);
  }
  [[nodiscard]] const std::optional<SinusoidalFormula>& sinusoidal() const { return parts_.sinusoidal; }
  [[nodiscard]] const std::optional<RotaryParameters>& rotary() const { return parts_.rotary; }
  [[nodiscard]] const std::map<std::string, RotaryParameters>& rotary_layer_types() const {
    return parts_.rotary_layer_types;
  }
  [[nodiscard]] bool position_before_type() const { return parts_.position_before_type; }
  [[nodiscard]] const std::optional<ModelLayerNorm>& layer_norm() const { return parts_.layer_norm; }
  [[nodiscard]] bool zero_masked() const { return parts_.zero_masked; }
  /// Whether a finite result that the output type would round to infinity becomes its largest finite value instead.
  [[nodiscard]] bool saturate() const { return parts_.saturate; }
  [[nodiscard]] std::optional<std::int64_t> trained_context_length() const { return parts_.trained_context_length; }
  [[nodiscard]] const ModelOutput& output() const { return parts_.output; }
  [[nodiscard]] const Vocabulary* vocabulary() const { return parts_.vocabulary ? &*parts_.vocabulary : nullptr; }
  [[nodiscard]] const std::string& architecture() const { return parts_.architecture; }
  [[nodiscard]] const std::vector<InferredValue>& inferred_from() const { return parts_.inferred_from; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return parts_.notes; }

  /// Whether all tables are whole. Those of mapped files can lose rows, which then read as zeros: whoever has read rows
  /// asks afterwards, and throws away what came of them. Cost: a system call for each mapped table.
  ///
  /// Errors:
  ///   FAILED_PRECONDITION  [TABLE_DAMAGED] a mapped file has become shorter; names the model and the file.
  [[nodiscard]] absl::Status CheckUndamaged() const;
  /// True for the first caller only, so that damage is logged once.
  [[nodiscard]] bool IsFirstToReportDamage() const { return !damage_reported_.exchange(true); }

  /// Counts ids outside [0, vocab_size()) that were not refused; returns how many there had been before.
  std::int64_t CountOutOfRangeIds(std::int64_t count) const { return out_of_range_ids_.fetch_add(count); }
  [[nodiscard]] std::int64_t out_of_range_ids() const { return out_of_range_ids_.load(); }

 private:
  explicit Model(ModelParts parts);

  ModelParts parts_;
  std::string checksum_;
  mutable std::atomic<std::int64_t> out_of_range_ids_ = 0;
  mutable std::atomic<bool> damage_reported_ = false;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_MODEL_H_
