#include <cmath>

#include "absl/strings/str_cat.h"
#include "server/architectures/draft.h"
#include "server/core/error.h"

// The end of the model, by which results become scores of token rows.
namespace embd::architectures {

bool Draft::Tied(bool fallback) {
  const auto tied = settings_.FlagOr("tie_word_embeddings", fallback);
  TiedIs(tied);
  return tied.value;
}

void Draft::TiedIs(const Sourced<bool>& tied) {
  model_.output.tied = given_.output.tied.value_or(tied.value);
  if (!given_.output.tied.has_value()) found_.Add("output.tied", tied.value ? "true" : "false", tied.source);
}

void Draft::CheckPositive(const Sourced<double>& number, absl::string_view key) {
  if (number.value > 0 && std::isfinite(number.value)) return;
  RefuseFile(absl::StrCat(number.source, " must be above 0; say ", key));
}

void Draft::OutputScale(const Sourced<double>& factor) {
  if (given_.output.scale.has_value() || factor.value == 1.0) return;
  CheckPositive(factor, "output.scale");
  model_.output.scale = factor.value;
  found_.Add("output.scale", factor.value, factor.source);
}

void Draft::OutputSoftcap(const Sourced<double>& softcap) {
  if (given_.output.softcap.has_value()) return;
  CheckPositive(softcap, "output.softcap");
  model_.output.softcap = softcap.value;
  found_.Add("output.softcap", softcap.value, softcap.source);
}

void Draft::OutputBias(const Names& names) {
  if (given_.output.bias.has_value() || !model_.output.tied.value_or(false)) return;
  for (const std::string& name : names) {
    if (!tensors_.Has(name)) continue;
    const auto bias = Choose({}, {name}, "output bias", "output.bias");
    if (!bias.has_value()) return;
    const bool is_vector = bias->shape.size() == 1 || (bias->shape.size() == 2 && bias->shape[0] == 1);
    if (!is_vector || (vocab_size_ > 0 && bias->shape.back() != vocab_size_)) {
      return RefuseFile(absl::StrCat("output bias ", core::Quote(name), " has shape ", ShapeText(bias->shape),
                                     ", the token table ", vocab_size_,
                                     " rows; to do without it, say output: { bias: none }"));
    }
    model_.output.bias = Use(*bias, "output.bias");
    return;
  }
}

}  // namespace embd::architectures
