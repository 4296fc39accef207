#include "tests/integration/routes/random_models.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/integration/routes/random_elements.h"

namespace embd::testing {
namespace {

constexpr int kModels = 30;  // a multiple of how many kinds there are of each thing

// Makes one model; `index` decides the kinds, so that all of them come.
class Maker {
 public:
  Maker(Draw& draw, const std::string& folder, int index) : draw_(draw), folder_(folder), index_(index) {}

  RandomModel Make(std::string* yaml) {
    model_.name = absl::StrCat("random-", index_);
    model_.dim = draw_.Integer(1, 70);
    model_.vocab_size = draw_.Integer(4, 40);
    Add("name", model_.name);
    if (index_ % 2 == 0) {
      model_.padding_idx = draw_.Integer(0, 3);
      Add("padding_idx", *model_.padding_idx);
    }
    Add("token", Token());
    AddPosition();
    AddTokenType();
    AddLayerNorm();
    if (draw_.Chance(0.4)) Add("sum_order", "position_first");
    if (draw_.Chance(0.3)) Add("zero_masked", "true");
    if (draw_.Chance(0.3)) Add("trained_context_length", draw_.Integer(1, kLongestRow));
    absl::StrAppend(yaml, "  - { ", absl::StrJoin(entries_, ", "), " }\n");
    return model_;
  }

 private:
  template <typename Value>
  void Add(const char* key, const Value& value) {
    entries_.push_back(absl::StrCat(key, ": ", value));
  }

  // Keys of a table of random elements in a file.
  std::string FileTable(const char* name, std::int64_t rows) {
    const auto [type, dtype] =
        draw_.Of({std::pair{v1::DATA_TYPE_FLOAT32, "float32"}, std::pair{v1::DATA_TYPE_FLOAT16, "float16"},
                  std::pair{v1::DATA_TYPE_BFLOAT16, "bfloat16"}});
    const std::string path = absl::StrCat(folder_, "/", model_.name, "-", name, ".bin");
    std::ofstream(path, std::ios::binary) << RandomElements(draw_, type, rows * model_.dim);
    return absl::StrCat("file: ", path, ", dtype: ", dtype, ", shape: [", rows, ", ", model_.dim,
                        "], mmap: ", draw_.Chance(0.5) ? "true" : "false");
  }

  std::string Seeded(const char* rows_key, std::int64_t rows, const std::string& more = "") {
    return absl::StrCat("seeded: { ", rows_key, ": ", rows, ", seed: ", draw_.Bits() >> 1, more, " }");
  }

  std::string Token() {
    std::string token = index_ % 3 == 0
                            ? Seeded("vocab_size", model_.vocab_size, absl::StrCat(", embedding_dim: ", model_.dim))
                            : FileTable("token", model_.vocab_size);
    const int unknown = index_ % 5;
    model_.serves_unknown_ids = unknown > 2;
    if (unknown == 3) absl::StrAppend(&token, ", out_of_range: zero");
    if (unknown == 4) {
      absl::StrAppend(&token, ", out_of_range: { unk: ", draw_.Integer(0, model_.vocab_size - 1), " }");
    }
    if (draw_.Chance(0.2)) {
      absl::StrAppend(&token, ", dropout_mask_id: ", draw_.Integer(0, model_.vocab_size - 1));
    } else if (draw_.Chance(0.5)) {
      absl::StrAppend(&token, ", scale: ", draw_.Of({"sqrt_dim", "0.1", "-3.5"}));
    }
    return absl::StrCat("{ ", token, " }");
  }

  void AddPosition() {
    const int kind = index_ % 6;
    if (kind == 5) return Add("position", "none");
    if (kind == 4) return Add("position", "{ rotary: { head_dim: 8 } }");
    const bool by_padding = model_.padding_idx.has_value() && draw_.Chance(0.5);
    const std::string numbering = by_padding ? "padding" : draw_.Of({"sequential", "fixed", "mask"});
    if (numbering == "mask" || draw_.Chance(0.3)) model_.row_offset = draw_.Integer(1, 3);
    if (by_padding) model_.uncounted_rows = *model_.padding_idx + 1;
    model_.position_rows = kLongestRow + draw_.Integer(5, 25) + model_.row_offset;
    const std::int64_t rows = model_.position_rows;
    std::string source = Sinusoidal();
    if (kind == 0) source = absl::StrCat("learned: { ", FileTable("position", rows), " }");
    if (kind == 1) source = absl::StrCat("learned: { ", Seeded("max_context_length", rows), " }");
    Add("position", absl::StrCat("{ numbering: ", numbering, ", row_offset: ", model_.row_offset, ", ", source, " }"));
  }

  std::string Sinusoidal() {
    const std::string layout = model_.dim % 2 == 0 ? draw_.Of({"interleaved", "half"}) : "half";
    const std::int64_t rows = model_.position_rows;
    const std::string length = draw_.Chance(0.5) ? absl::StrCat("max_context_length: ", rows)
                                                 : absl::StrCat("max_context_length: ", rows / 2, ", grow_to: ", rows);
    return absl::StrCat("sinusoidal: { ", length, ", layout: ", layout, " }");
  }

  void AddTokenType() {
    if (index_ % 5 < 2) return;
    std::string types = "shared: true";
    model_.token_types = model_.vocab_size;
    if (index_ % 5 > 2) {
      model_.token_types = draw_.Integer(1, 5);
      types = Seeded("type_vocab_size", model_.token_types);
      if (draw_.Chance(0.5)) absl::StrAppend(&types, ", only_when_sent: true");
    }
    Add("token_type", absl::StrCat("{ ", types, " }"));
  }

  void AddLayerNorm() {
    if (!draw_.Chance(0.35)) return;
    Add("layer_norm", absl::StrCat("{ weight: { file: ", Vector("weight"), " }, bias: { file: ", Vector("bias"),
                                   " }, eps: ", draw_.Of({"1e-12", "1e-5", "0.5"}), " }"));
  }

  // A .npy file of one vector.
  std::string Vector(const char* name) {
    const std::string path = absl::StrCat(folder_, "/", model_.name, "-", name, ".npy");
    std::string header = absl::StrCat("{'descr': '<f4', 'fortran_order': False, 'shape': (", model_.dim, ",), }");
    header.resize(117, ' ');
    const std::string begin("\x93NUMPY\x01\x00\x76\x00", 10);  // format 1.0; the header has 118 bytes
    std::ofstream(path, std::ios::binary) << begin << header << '\n'
                                          << RandomElements(draw_, v1::DATA_TYPE_FLOAT32, model_.dim);
    return path;
  }

  Draw& draw_;
  const std::string& folder_;
  const int index_;
  RandomModel model_;
  std::vector<std::string> entries_;
};

}  // namespace

RandomModels DrawModels(Draw& draw, const std::string& folder) {
  RandomModels drawn;
  for (int i = 0; i < kModels; ++i) drawn.models.push_back(Maker(draw, folder, i).Make(&drawn.yaml));
  return drawn;
}

}  // namespace embd::testing
