#ifndef EMBD_SERVER_ARCHITECTURES_DRAFT_H_
#define EMBD_SERVER_ARCHITECTURES_DRAFT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/architectures/infer_model.h"
#include "server/architectures/inferred_values.h"
#include "server/architectures/rotary_settings.h"
#include "server/architectures/settings.h"
#include "server/architectures/tensor_choice.h"
#include "server/architectures/tensor_source.h"
#include "server/config/server_config.h"

namespace embd::architectures {

/// What config.json says of a table's shape; nothing: it does not say.
struct StatedShape {
  std::optional<Sourced<std::int64_t>> rows;
  std::optional<Sourced<std::int64_t>> columns;
};

/// A model as it is spelled out, statement by statement, by the code of its family. What the user gave weighs more than
/// each statement, and a statement about what was given is not even looked into.
///
/// What goes wrong is kept for `Finish`; statements after that do no harm.
/// Ownership: refers to the arguments of the constructor. Thread safety: not thread-safe.
class Draft {
 public:
  /// `architecture` is how messages name the model_type, e.g. "model_type gpt2".
  Draft(const config::ModelConfig& given, std::string model_type, std::string architecture, const Settings& settings,
        const TensorSource& tensors, Fault* fault);

  [[nodiscard]] const std::string& model_type() const { return model_type_; }
  /// "model_type gpt2": the source of what the architecture fixes.
  [[nodiscard]] const std::string& architecture() const { return architecture_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const TensorSource& tensors() const { return tensors_; }
  [[nodiscard]] const config::ModelConfig& given() const { return given_; }
  /// Columns of the token table; 0: not known.
  [[nodiscard]] std::int64_t width() const { return width_; }
  /// The tensor of the token table; empty: not one of the source.
  [[nodiscard]] const std::string& token_tensor() const { return token_tensor_; }

  /// Whether the position that is given is of another kind, so that nothing about it need be found.
  template <typename Kind>
  [[nodiscard]] bool GivenPositionIsNo() const {
    return given_.position.has_value() && !std::holds_alternative<Kind>(*given_.position);
  }

  /// The side that is given. Architectures that never ask have none.
  [[nodiscard]] std::optional<config::Side> AskSide();
  /// The same where the tables of both sides differ: reports that it is missing.
  [[nodiscard]] config::Side NeedSide();

  /// Whether the token table is the output projection, too: `tie_word_embeddings`, or else `fallback`.
  bool Tied(bool fallback);
  void TiedIs(const Sourced<bool>& tied);
  /// What the model multiplies the scores of its results by; 1 says nothing.
  void OutputScale(const Sourced<double>& factor);
  void OutputSoftcap(const Sourced<double>& softcap);
  /// The bias of a tied projection is the first tensor of `names` that is there; none: no bias.
  void OutputBias(const Names& names);

  /// The token table is the first tensor of `names` that is there, or else `lm_head.weight` if `tied`.
  void Token(const Names& names, const StatedShape& stated, bool tied);
  void ScaleBySqrtDim(bool weight_dtype, absl::string_view source);
  void ScaleBy(const Sourced<double>& factor);
  /// The id that `pad_token_id` names, `fallback` where there is no such key (nothing: none). One that no row has is
  /// noted and left out, unless positions are numbered by it.
  void Padding(std::optional<std::int64_t> fallback, bool numbers_positions = false);
  void PaddingIs(std::int64_t id);

  /// A table of positions + extra_rows rows.
  void Learned(const Names& names, const std::optional<Sourced<std::int64_t>>& positions, std::int64_t extra_rows = 0);
  /// A computed table of positions + extra_rows rows.
  void Sinusoidal(config::SinusoidalLayout layout, const Sourced<std::int64_t>& positions, std::int64_t extra_rows,
                  bool grows);
  void Rotary(const config::RotaryPositions& rotary);
  void NoPosition(absl::string_view source);
  void Numbered(config::Numbering numbering, std::int64_t row_offset = 0);

  /// A table of types, of which type 0 is added where none are sent.
  void TokenTypes(const Names& names, const std::optional<Sourced<std::int64_t>>& count);
  /// Types are rows of the token table, added only where they are sent.
  void SharedTokenTypes();
  void Norm(const Names& weights, const std::optional<Names>& biases, const Sourced<double>& eps);

  void Order(config::SumOrder order);
  void ZeroMasked();
  /// Token rows as ESM's token_dropout makes them, with the id of <mask>.
  void TokenDropout(const Sourced<std::int64_t>& mask_id);
  void Trained(const Sourced<std::int64_t>& length);

  void Note(std::string note) { found_.Note(std::move(note)); }
  [[nodiscard]] InferredValues* found() { return &found_; }
  [[nodiscard]] Fault* fault() { return fault_; }
  /// UNIMPLEMENTED [UNSUPPORTED_ARCHITECTURE]; the message names the key, its value and what to write instead.
  void Refuse(absl::string_view message);
  /// INVALID_ARGUMENT [INVALID_FILE].
  void RefuseFile(absl::string_view message);

  /// The model with all that was given in it, or the first thing that went wrong.
  [[nodiscard]] absl::StatusOr<InferredModel> Finish();

 private:
  [[nodiscard]] bool HasAny(const Names& names) const;
  void ReportUntiedHead(const Names& names);
  // The tensor that `given` names, else the first of `names`; nothing where the fault has it.
  std::optional<ChosenTensor> Choose(const config::TableFile& given, const Names& names, absl::string_view what,
                                     absl::string_view key);
  void CheckShape(const ChosenTensor& table, const StatedShape& stated, std::int64_t extra_rows, absl::string_view what,
                  absl::string_view key);
  void CheckRank(const ChosenTensor& tensor, std::size_t rank, absl::string_view what);
  // `given` with the tensor's file and name; notes what of that was not given.
  config::TableFile Use(const ChosenTensor& tensor, absl::string_view key, const config::TableFile& given = {});
  // Gives a file without a path the one of the source that holds its tensor.
  void Resolve(config::TableFile* file, absl::string_view key);

  // Refuses what no score can be multiplied or bounded by.
  void CheckPositive(const Sourced<double>& number, absl::string_view key);

  void FinishPosition();
  // For all layers, or for those of one type.
  template <typename Layers>
  void FinishRotary(const Layers& given, Layers* rotary, const std::string& key);
  void FinishNumbering();
  void FinishTokenTypes();
  void FinishNorm();
  void FinishOutput();
  template <typename T>
  void Prefer(const std::optional<T>& given, std::optional<T>* found, absl::string_view key);

  const config::ModelConfig& given_;
  const std::string model_type_;
  const std::string architecture_;
  const Settings& settings_;
  const TensorSource& tensors_;
  Fault* const fault_;
  config::ModelConfig model_;
  InferredValues found_;
  std::int64_t width_ = 0;
  std::int64_t vocab_size_ = 0;     // 0: not known
  std::int64_t position_rows_ = 0;  // of a table of the source; 0: not known
  std::string token_tensor_;
  bool has_sides_ = false;
};

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_DRAFT_H_
