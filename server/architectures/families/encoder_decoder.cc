#include <array>

#include "absl/strings/str_cat.h"
#include "server/architectures/families/families.h"
#include "server/architectures/families/side_names.h"

namespace embd::architectures {
namespace {

/// What differs between BART and its kin.
struct BartKin {
  absl::string_view model_type;
  bool scaled = false;          ///< where scale_embedding is absent
  std::int64_t row_offset = 2;  ///< rows before the one of position 0
  std::int64_t padding = 1;
  bool has_norm = true;
  bool norm_before_position = false;  ///< in the decoder
};

constexpr std::array<BartKin, 5> kKin = {{
    {"bart"},
    {"mbart"},
    {"plbart", true},
    {"blenderbot", false, 0, 0, false},
    {"blenderbot-small", false, 0, 0, true, true},
}};

void Bart(const BartKin& kin, Draft* draft) {
  const Settings& settings = draft->settings();
  const config::Side side = draft->NeedSide();
  if (kin.norm_before_position && side == config::Side::kDecoder) {
    draft->Refuse(absl::StrCat("the decoder of ", draft->architecture(),
                               " normalises token rows before it adds positions, which is not served; say side: encoder"
                               ", or spell the model out with token and position instead of path"));
  }
  draft->Token(SharedNames(side), {settings.Integer("vocab_size"), settings.Integer("d_model")}, draft->Tied(true));
  draft->OutputBias({kFinalBias});
  ScaleWhereSaid(draft, kin.scaled);
  draft->Padding(kin.padding);
  draft->Learned(SideNames(side, "embed_positions.weight"), settings.Integer("max_position_embeddings"),
                 kin.row_offset);
  draft->Numbered(config::Numbering::kFixed, kin.row_offset);
  if (!kin.has_norm) return;
  draft->Norm(SideNames(side, "layernorm_embedding.weight"), SideNames(side, "layernorm_embedding.bias"),
              {1e-5, draft->architecture()});
}

}  // namespace

bool InferEncoderDecoder(Draft* draft) {
  for (const BartKin& kin : kKin) {
    if (kin.model_type != draft->model_type()) continue;
    Bart(kin, draft);
    return true;
  }
  return false;
}

}  // namespace embd::architectures
