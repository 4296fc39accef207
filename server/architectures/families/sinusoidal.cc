#include <array>

#include "absl/strings/str_cat.h"
#include "server/architectures/families/families.h"
#include "server/architectures/families/side_names.h"

namespace embd::architectures {
namespace {

using config::Numbering;
using config::SinusoidalLayout;

/// What differs between the families whose positions are computed.
struct Computed {
  absl::string_view model_type;
  SinusoidalLayout layout = SinusoidalLayout::kHalf;
  std::int64_t positions = 0;   ///< where max_position_embeddings is absent
  std::int64_t extra_rows = 0;  ///< of the table, besides one a position
  bool grows = false;           ///< longer sequences get more rows
  Numbering numbering = Numbering::kFixed;
  std::int64_t row_offset = 0;
  bool scaled = false;  ///< where scale_embedding is absent
  std::int64_t padding = 0;
  bool has_bias = false;  ///< of the output
};

constexpr std::array<Computed, 5> kFamilies = {{
    {"marian", SinusoidalLayout::kHalf, 1024, 0, false, Numbering::kFixed, 0, false, 58100, true},
    {"pegasus", SinusoidalLayout::kHalf, 1024, 0, false, Numbering::kFixed, 0, false, 0, true},
    {"pegasus_x", SinusoidalLayout::kTensor2Tensor, 16384, 0, true, Numbering::kFixed, 0, true, 0},
    {"m2m_100", SinusoidalLayout::kTensor2Tensor, 1024, 2, true, Numbering::kPadding, 0, true, 1},
    {"xglm", SinusoidalLayout::kTensor2Tensor, 2048, 2, true, Numbering::kFixed, 2, true, 1},
}};

// Marian's two sides may have vocabularies of their own.
void MarianTokens(Draft* draft) {
  const Settings& settings = draft->settings();
  const auto columns = settings.Integer("d_model");
  if (settings.FlagOr("share_encoder_decoder_embeddings", true).value) {
    return draft->Token(SharedNames(draft->AskSide()), {settings.Integer("vocab_size"), columns}, draft->Tied(true));
  }
  const config::Side side = draft->NeedSide();
  auto rows = settings.Integer("vocab_size");
  if (side == config::Side::kDecoder && settings.Has("decoder_vocab_size")) {
    rows = settings.Integer("decoder_vocab_size");
  }
  draft->Token(SideNames(side, "embed_tokens.weight"), {rows, columns}, /*tied=*/false);
  if (side == config::Side::kDecoder) {
    draft->Tied(true);
  } else {
    draft->TiedIs({false, settings.Source("share_encoder_decoder_embeddings")});
  }
}

void Tokens(Draft* draft) {
  const Settings& settings = draft->settings();
  if (draft->model_type() == "marian") return MarianTokens(draft);
  const bool tied = draft->Tied(true);
  const StatedShape stated = {settings.Integer("vocab_size"), settings.Integer("d_model")};
  if (draft->model_type() == "xglm")
    return draft->Token(Prefixed({"", "model."}, {"embed_tokens.weight"}), stated, tied);
  draft->Token(SharedNames(draft->AskSide()), stated, tied);
}

}  // namespace

bool InferSinusoidal(Draft* draft) {
  for (const Computed& family : kFamilies) {
    if (family.model_type != draft->model_type()) continue;
    Tokens(draft);
    if (family.has_bias) draft->OutputBias({kFinalBias});
    ScaleWhereSaid(draft, family.scaled);
    // Pegasus-X has no row for padding, and a padding id would make the table's row of that number zero.
    if (family.model_type != "pegasus_x") draft->Padding(family.padding, family.numbering == Numbering::kPadding);
    draft->Sinusoidal(family.layout, draft->settings().IntegerOr({"max_position_embeddings"}, family.positions),
                      family.extra_rows, family.grows);
    draft->Numbered(family.numbering, family.row_offset);
    return true;
  }
  return false;
}

}  // namespace embd::architectures
