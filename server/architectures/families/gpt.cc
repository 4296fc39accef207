#include <optional>

#include "server/architectures/families/families.h"

namespace embd::architectures {
namespace {

StatedShape StatedTokens(const Settings& settings, absl::string_view width_key, absl::string_view other_width_key) {
  auto columns = settings.Integer(width_key);
  if (!columns.has_value()) columns = settings.Integer(other_width_key);
  return {settings.Integer("vocab_size"), columns};
}

std::optional<Sourced<std::int64_t>> StatedPositions(const Settings& settings) {
  auto positions = settings.Integer("n_positions");
  return positions.has_value() ? positions : settings.Integer("max_position_embeddings");
}

void Gpt2(Draft* draft) {
  draft->Token(Prefixed({"", "transformer."}, {"wte.weight"}), StatedTokens(draft->settings(), "n_embd", "hidden_size"),
               draft->Tied(true));
  draft->Learned(Prefixed({"", "transformer."}, {"wpe.weight"}), StatedPositions(draft->settings()));
  draft->Numbered(config::Numbering::kSequential);
  draft->SharedTokenTypes();
  draft->Order(config::SumOrder::kPositionFirst);
}

void OpenAiGpt(Draft* draft) {
  draft->Token(Prefixed({"", "transformer."}, {"tokens_embed.weight"}),
               StatedTokens(draft->settings(), "n_embd", "hidden_size"), draft->Tied(true));
  draft->Learned(Prefixed({"", "transformer."}, {"positions_embed.weight"}), StatedPositions(draft->settings()));
  draft->Numbered(config::Numbering::kFixed);
  draft->SharedTokenTypes();
  draft->Order(config::SumOrder::kPositionFirst);
}

}  // namespace

bool InferGpt(Draft* draft) {
  const std::string& type = draft->model_type();
  if (type == "gpt2" || type == "gpt_bigcode" || type == "gpt_neo") {
    Gpt2(draft);
  } else if (type == "openai-gpt") {
    OpenAiGpt(draft);
  } else {
    return false;
  }
  return true;
}

}  // namespace embd::architectures
