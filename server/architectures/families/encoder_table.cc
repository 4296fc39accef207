#include "server/architectures/families/encoder_table.h"

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::architectures {

Names EncoderNames(absl::string_view prefix, absl::string_view name) {
  return {absl::StrCat("embeddings.", name), absl::StrCat(prefix, ".embeddings.", name)};
}

void EncoderTokens(Draft* draft, absl::string_view prefix, absl::string_view width_key) {
  const Settings& settings = draft->settings();
  draft->Token(EncoderNames(prefix, "word_embeddings.weight"),
               {settings.Integer("vocab_size"), settings.Integer(width_key)}, /*tied=*/false);
}

void EncoderOutput(Draft* draft, const Names& biases) {
  draft->Tied(true);
  draft->OutputBias(biases);
}

void EncoderPositions(Draft* draft, absl::string_view prefix, bool may_be_relative) {
  constexpr absl::string_view kKey = "position_embedding_type";
  const auto type = may_be_relative ? draft->settings().Text(kKey) : std::nullopt;
  if (type.has_value() && type->value != "absolute") {
    if (type->value == "relative_key" || type->value == "relative_key_query") {
      draft->Note("positions are relative: they are added inside attention, not at the input");
      return draft->NoPosition(type->source);
    }
    if (draft->given().position.has_value()) return;
    return draft->Refuse(absl::StrCat(type->source,
                                      " is not served; absolute, relative_key and relative_key_query are;"
                                      " say position: none, or position: { learned: { tensor: … } }"));
  }
  draft->Learned(EncoderNames(prefix, "position_embeddings.weight"),
                 draft->settings().Integer("max_position_embeddings"));
}

void EncoderTypes(Draft* draft, absl::string_view prefix) {
  draft->TokenTypes(EncoderNames(prefix, "token_type_embeddings.weight"), draft->settings().Integer("type_vocab_size"));
}

void EncoderNorm(Draft* draft, absl::string_view prefix, const Sourced<double>& eps) {
  Names weights = EncoderNames(prefix, "LayerNorm.weight");
  Names biases = EncoderNames(prefix, "LayerNorm.bias");
  for (const std::string& name : EncoderNames(prefix, "LayerNorm.gamma")) weights.push_back(name);
  for (const std::string& name : EncoderNames(prefix, "LayerNorm.beta")) biases.push_back(name);
  draft->Norm(weights, biases, eps);
}

}  // namespace embd::architectures
