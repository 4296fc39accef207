#include <cmath>

#include "absl/strings/str_cat.h"
#include "server/architectures/families/families.h"
#include "server/architectures/families/side_names.h"

namespace embd::architectures {
namespace {

constexpr char kAlibiNote[] = "positions are ALiBi: they are biases inside attention, not rows added at the input";

void T5(Draft* draft) {
  const Settings& settings = draft->settings();
  Names names = {"shared.weight", "transformer.shared.weight"};
  const auto side = draft->AskSide();
  for (const config::Side each : {config::Side::kEncoder, config::Side::kDecoder}) {
    if (side.value_or(each) == each) names.push_back(SideNames(each, "embed_tokens.weight").front());
  }
  const bool tied = draft->Tied(draft->model_type() != "mt5");
  draft->Token(names, {settings.Integer("vocab_size"), settings.Integer("d_model")}, tied);
  if (tied && draft->width() > 0) {
    draft->OutputScale({1.0 / std::sqrt(static_cast<double>(draft->width())),
                        absl::StrCat(draft->architecture(), ", width ", draft->width())});
  }
  draft->NoPosition(draft->architecture());
  draft->Note("positions are relative: they are biases inside attention, not rows added at the input");
}

void Bloom(Draft* draft) {
  const Settings& settings = draft->settings();
  auto columns = settings.Integer("n_embed");
  if (!columns.has_value()) columns = settings.Integer("hidden_size");
  draft->Token(Prefixed({"", "transformer."}, {"word_embeddings.weight"}), {settings.Integer("vocab_size"), columns},
               draft->Tied(true));
  draft->NoPosition(draft->architecture());
  draft->Note(kAlibiNote);
  draft->Norm(Prefixed({"", "transformer."}, {"word_embeddings_layernorm.weight"}),
              Prefixed({"", "transformer."}, {"word_embeddings_layernorm.bias"}),
              settings.NumberOr({"layer_norm_epsilon"}, 1e-5));
}

void Mpt(Draft* draft) {
  const Settings& settings = draft->settings();
  draft->Token(Prefixed({"", "transformer."}, {"wte.weight"}),
               {settings.Integer("vocab_size"), settings.Integer("d_model")}, draft->Tied(true));
  draft->Trained(settings.IntegerOr({"max_seq_len"}, 2048));
  const auto attention = settings.Object("attn_config");
  const auto alibi = attention.has_value() ? attention->FlagOr("alibi", true) : Sourced<bool>{true, kClassDefault};
  if (alibi.value) {
    draft->NoPosition(alibi.source);
    return draft->Note(kAlibiNote);
  }
  if (attention->FlagOr("rope", false).value && !draft->given().position.has_value()) {
    return draft->Refuse(
        absl::StrCat(attention->Source("rope"), " is not served; say position: { rotary: { head_dim: … } }"));
  }
  // Only files of its makers' own code have such a table; the class in transformers has none.
  draft->Learned(Prefixed({"", "transformer."}, {"wpe.weight"}), settings.Integer("max_seq_len"));
  draft->Numbered(config::Numbering::kSequential);
}

void FalconWithAlibi(Draft* draft) {
  const Settings& settings = draft->settings();
  auto columns = settings.Integer("n_embed");
  if (!columns.has_value()) columns = settings.Integer("hidden_size");
  draft->Token(Prefixed({"", "transformer."}, {"word_embeddings.weight"}), {settings.Integer("vocab_size"), columns},
               draft->Tied(true));
  draft->NoPosition(settings.Source("alibi"));
  draft->Note(kAlibiNote);
}

}  // namespace

bool InferWithoutPosition(Draft* draft) {
  const std::string& type = draft->model_type();
  if (type == "t5" || type == "mt5" || type == "umt5") {
    T5(draft);
  } else if (type == "bloom") {
    Bloom(draft);
  } else if (type == "mpt") {
    Mpt(draft);
  } else if (type == "falcon" && draft->settings().FlagOr("alibi", false).value) {
    FalconWithAlibi(draft);
  } else {
    return false;
  }
  return true;
}

}  // namespace embd::architectures
