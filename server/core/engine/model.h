#ifndef EMBD_SERVER_CORE_ENGINE_MODEL_H_
#define EMBD_SERVER_CORE_ENGINE_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/position/rotary.h"
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

/// What a model is made of.
struct ModelParts {
  std::string name;
  std::string version = "1";
  std::int64_t generation = 1;
  ModelTable token;
  std::optional<ModelTable> position;
  PositionEncoding position_encoding = PositionEncoding::kNone;
  std::optional<double> sinusoidal_base;
  std::optional<RotaryParameters> rotary;
  std::map<std::string, RotaryParameters> rotary_layer_types;  ///< for layers that differ from `rotary`
  std::optional<Vocabulary> vocabulary;
};

/// A named embedding stage: a token table and what is done around it.
///
/// Ownership: shared by the registry and by every call in flight; the last one frees the tables.
/// Thread safety: never changes after `Create`, so any number of threads may read it.
class Model {
 public:
  /// Errors:
  ///   INVALID_ARGUMENT  [INVALID_MODEL] tables of different embedding_dim; a position table that is missing, or too
  ///                     much, for the encoding; a vocabulary whose words are not as many as the token rows.
  [[nodiscard]] static absl::StatusOr<std::shared_ptr<const Model>> Create(ModelParts parts);

  [[nodiscard]] const std::string& name() const { return parts_.name; }
  [[nodiscard]] const std::string& version() const { return parts_.version; }
  [[nodiscard]] std::int64_t generation() const { return parts_.generation; }
  /// SHA-256 (hex) over a line "<kind> <type> <rows>x<dim> <table checksum>\n" for each table, token first.
  [[nodiscard]] const std::string& checksum() const { return checksum_; }
  [[nodiscard]] std::int64_t vocab_size() const { return parts_.token.table.rows(); }
  [[nodiscard]] std::int64_t embedding_dim() const { return parts_.token.table.dim(); }
  [[nodiscard]] PositionEncoding position_encoding() const { return parts_.position_encoding; }
  [[nodiscard]] const ModelTable& token() const { return parts_.token; }
  /// The table that is added by position, or nothing for `kNone` and `kRotary`.
  [[nodiscard]] const ModelTable* position() const { return parts_.position ? &*parts_.position : nullptr; }
  [[nodiscard]] const Vocabulary* vocabulary() const { return parts_.vocabulary ? &*parts_.vocabulary : nullptr; }
  [[nodiscard]] std::optional<double> sinusoidal_base() const { return parts_.sinusoidal_base; }
  [[nodiscard]] const std::optional<RotaryParameters>& rotary() const { return parts_.rotary; }
  [[nodiscard]] const std::map<std::string, RotaryParameters>& rotary_layer_types() const {
    return parts_.rotary_layer_types;
  }

 private:
  explicit Model(ModelParts parts);

  ModelParts parts_;
  std::string checksum_;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_MODEL_H_
