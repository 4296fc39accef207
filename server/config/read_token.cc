#include "server/config/read_token.h"

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/config/read_optional.h"
#include "server/config/read_rows.h"
#include "server/config/scalar_syntax.h"

namespace embd::config {
namespace {

SeededTokens ReadSeededTokens(MapReader& seeded) {
  SeededTokens tokens;
  seeded.Require("vocab_size");
  seeded.Require("embedding_dim");
  seeded.ReadInteger("vocab_size", {}, tokens.vocab_size);
  seeded.ReadInteger("embedding_dim", {}, tokens.embedding_dim);
  CheckTableSize(seeded, "vocab_size", tokens.vocab_size, tokens.embedding_dim);
  ReadSeededRows(seeded, tokens.rows);
  return tokens;
}

std::variant<TableFile, SeededTokens> ReadTokenRows(MapReader& token, const std::string& folder, bool has_path) {
  auto seeded = token.ReadMap("seeded", Section::kSeededTokens);
  if (!seeded.has_value()) return ReadTableFile(token, folder, has_path ? "" : "file or seeded");
  for (const absl::string_view key : kTableFileKeys) {
    if (token.Has(key)) token.Report(key, "does not go with seeded");
  }
  return ReadSeededTokens(*seeded);
}

/// The number at `scale`. It is applied in float32, so it must be a normal number there.
double ReadFactor(MapReader& token, const Node& node) {
  const bool is_number = node.kind == Node::Kind::kScalar && !node.quoted;
  const auto factor = is_number ? ParseNumber(node.text) : std::nullopt;
  if (!factor.has_value() || *factor == 0.0) {
    token.Report("scale", absl::StrCat("must be sqrt_dim or a finite number other than 0, got ", Found(node)));
    return 1.0;
  }
  constexpr double kSmallest = std::numeric_limits<float>::min();
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (std::abs(*factor) < kSmallest || std::abs(*factor) > kLargest) {
    token.Report("scale",
                 absl::StrCat("must be of a magnitude from ", kSmallest, " to ", kLargest, ", got ", Found(node)));
  }
  return *factor;
}

std::optional<TokenScale> ReadScale(MapReader& token) {
  constexpr std::array<absl::string_view, 2> kRoundings = {"float32", "weight_dtype"};
  const auto rounding = ReadOptionalWord(token, "scale_rounding", kRoundings);
  const Node* node = token.Find("scale");
  if (node == nullptr) {
    if (token.Has("scale_rounding")) token.Report("scale_rounding", "needs scale: there is nothing to round");
    return std::nullopt;
  }
  TokenScale scale;
  scale.weight_dtype = rounding == 1;
  scale.sqrt_dim = node->kind == Node::Kind::kScalar && node->text == "sqrt_dim";
  if (!scale.sqrt_dim) scale.factor = ReadFactor(token, *node);
  return scale;
}

std::optional<OutOfRange> ReadOutOfRange(MapReader& token, const std::variant<TableFile, SeededTokens>& rows) {
  const Node* node = token.Find("out_of_range");
  if (node == nullptr) return std::nullopt;
  OutOfRange out;
  if (node->kind != Node::Kind::kMap) {
    const std::string word = node->kind == Node::Kind::kScalar ? node->text : "";
    if (word == "zero") out.policy = OutOfRange::Policy::kZero;
    if (word != "error" && word != "zero") {
      token.Report("out_of_range", absl::StrCat("must be error, zero, or a map of unk, got ", Found(*node)));
    }
    return out;
  }
  auto unk = token.ReadMap("out_of_range", Section::kOutOfRange);
  unk->Require("unk");
  unk->ReadInteger("unk", IdsOf(rows), out.unk_id);
  out.policy = OutOfRange::Policy::kUnk;
  return out;
}

std::optional<std::int64_t> ReadDropoutMaskId(MapReader& token, const ModelConfig& model) {
  const bool scaled = model.token_scale.has_value() && *model.token_scale != TokenScale{.factor = 1.0};
  if (scaled && token.Has("dropout_mask_id")) token.Report("dropout_mask_id", "does not go with scale");
  return ReadOptionalInteger(token, "dropout_mask_id", IdsOf(model.token));
}

}  // namespace

IntegerRange IdsOf(const std::variant<TableFile, SeededTokens>& rows) {
  const auto* const seeded = std::get_if<SeededTokens>(&rows);
  if (seeded == nullptr) return {.min = 0};
  return {.min = 0, .max = seeded->vocab_size - 1};
}

void ReadToken(MapReader& model, const std::string& folder, ModelConfig& out) {
  auto token = model.ReadMap("token", Section::kToken);
  const bool has_path = model.Has("path");
  if (!token.has_value()) {
    if (!has_path) model.Report("token or path is missing");
    return;
  }
  for (const absl::string_view key : {"file", "seeded"}) {
    if (has_path && token->Has(key)) model.Report("path", absl::StrCat("does not go with token.", key));
  }
  out.token = ReadTokenRows(*token, folder, has_path);
  out.token_scale = ReadScale(*token);
  out.out_of_range = ReadOutOfRange(*token, out.token);
  out.dropout_mask_id = ReadDropoutMaskId(*token, out);
}

}  // namespace embd::config
