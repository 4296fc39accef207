#ifndef EMBD_SERVER_ARCHITECTURES_FAMILIES_ENCODER_TABLE_H_
#define EMBD_SERVER_ARCHITECTURES_FAMILIES_ENCODER_TABLE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "server/architectures/draft.h"

namespace embd::architectures {

/// Names of a tensor of an encoder, with and without the prefix of its family: `embeddings.NAME` and
/// `PREFIX.embeddings.NAME`.
[[nodiscard]] Names EncoderNames(absl::string_view prefix, absl::string_view name);

/// The token table `word_embeddings.weight`, whose columns `width_key` tells.
void EncoderTokens(Draft* draft, absl::string_view prefix, absl::string_view width_key);

/// The projection that guesses masked words, by the token table unless config.json says otherwise; `biases` are the
/// names that its bias may have.
void EncoderOutput(Draft* draft, const Names& biases);

/// The position table `position_embeddings.weight`, unless `position_embedding_type` says that positions are relative.
void EncoderPositions(Draft* draft, absl::string_view prefix, bool may_be_relative);

/// The type table `token_type_embeddings.weight`.
void EncoderTypes(Draft* draft, absl::string_view prefix);

/// `LayerNorm` under the names of torch or of TensorFlow.
void EncoderNorm(Draft* draft, absl::string_view prefix, const Sourced<double>& eps);

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_FAMILIES_ENCODER_TABLE_H_
