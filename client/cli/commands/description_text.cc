#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/description.h"
#include "client/cli/render/array_text.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

void AppendRotary(const std::string& label, const client::RotaryParameters& rotary, Fields& fields) {
  fields.emplace_back(absl::StrCat(label, " head dim"), absl::StrCat(rotary.head_dim));
  fields.emplace_back(absl::StrCat(label, " dim"), absl::StrCat(rotary.rotary_dim.value_or(rotary.head_dim)));
  fields.emplace_back(absl::StrCat(label, " theta"), absl::StrCat(rotary.theta.value_or(10000)));
  fields.emplace_back(absl::StrCat(label, " pairing"), std::string(RotaryPairingName(rotary.pairing)));
  if (rotary.scaling) fields.emplace_back(absl::StrCat(label, " scaling"), ScalingJson(*rotary.scaling).dump());
}

std::string TablesText(const std::vector<client::TableDescription>& tables) {
  std::vector<std::vector<std::string>> rows;
  for (const client::TableDescription& table : tables) {
    rows.push_back({std::string(TableKindName(table.kind)), ShapeText(table.shape),
                    std::string(DataTypeName(table.data_type)), absl::StrCat(table.element_count),
                    absl::StrCat(table.parameter_count), absl::StrCat(table.byte_size), table.checksum, table.source});
  }
  return TableText({{"table"},
                    {"shape"},
                    {"type"},
                    {"elements", kRight},
                    {"parameters", kRight},
                    {"bytes", kRight},
                    {"checksum"},
                    {"source"}},
                   rows);
}

// How token types take part, or "" where they do not.
std::string TypesText(const client::ModelDescription& model) {
  if (!model.has_token_types) return "";
  return absl::StrCat(model.token_types_share_token_table ? "rows of the token table" : "a table of their own",
                      ", added ", model.position_before_type ? "after" : "before", " positions",
                      model.token_types_only_when_sent ? ", only when sent" : "");
}

std::string OutOfRangeText(const client::ModelDescription& model) {
  const std::string seen = absl::StrCat(", ", model.out_of_range_ids, " so far");
  switch (model.out_of_range) {
    case client::OutOfRangePolicy::kZero: return "zero" + seen;
    case client::OutOfRangePolicy::kUnk: return absl::StrCat("row ", model.unk_id.value_or(0), seen);
    default: return "";
  }
}

// How results are projected, or "" where not by the token table.
std::string OutputText(const client::ModelDescription& model) {
  if (!model.output_tied) return "";
  std::string text = "token table";
  if (model.output_scale != 1) absl::StrAppend(&text, ", scale ", model.output_scale);
  if (model.has_output_bias) text += ", bias";
  if (model.output_softcap) absl::StrAppend(&text, ", softcap ", *model.output_softcap);
  return text;
}

// What is not so with every model.
void AppendComputation(const client::ModelDescription& model, Fields& fields) {
  const auto append = [&fields](const char* name, const std::string& value) {
    if (!value.empty()) fields.emplace_back(name, value);
  };
  const auto number = [](const auto& value) { return value ? absl::StrCat(*value) : std::string(); };
  append("architecture", model.architecture);
  if (model.numbering != client::PositionNumbering::kUnspecified) {
    append("numbering", std::string(PositionNumberingName(model.numbering)));
  }
  if (model.row_offset != 0) append("row offset", absl::StrCat(model.row_offset));
  append("padding id", number(model.padding_idx));
  if (model.token_scale != 1) append("token scale", absl::StrCat(model.token_scale));
  append("token types", TypesText(model));
  append("layer norm eps", number(model.layer_norm_eps));
  if (model.zero_masked) append("masked cells", "zero");
  if (model.saturate) append("overflow", "largest finite value");
  if (model.dropout_mask_id) append("token dropout", absl::StrCat("<mask> is id ", *model.dropout_mask_id));
  append("ids out of range", OutOfRangeText(model));
  append("trained context length", number(model.trained_context_length));
  append("output projection", OutputText(model));
  if (model.sinusoidal_layout != client::SinusoidalLayout::kUnspecified) {
    append("sinusoidal layout", std::string(SinusoidalLayoutName(model.sinusoidal_layout)));
  }
}

std::string InferredText(const std::vector<client::InferredValue>& values) {
  std::vector<std::vector<std::string>> rows;
  for (const client::InferredValue& value : values) rows.push_back({value.key, value.value, value.source});
  return TableText({{"inferred key"}, {"value"}, {"source"}}, rows);
}

}  // namespace

std::string DescriptionText(const client::ModelDescription& model) {
  Fields fields = {{"model", model.name},
                   {"version", absl::StrCat(model.version, ", generation ", model.generation)},
                   {"positions", std::string(PositionEncodingName(model.position_encoding))},
                   {"vocab size", absl::StrCat(model.vocab_size)},
                   {"embedding dim", absl::StrCat(model.embedding_dim)},
                   {"max context length", model.max_context_length ? absl::StrCat(*model.max_context_length) : "-"},
                   {"parameters", absl::StrCat(model.parameter_count)},
                   {"vocabulary", model.vocabulary_words > 0 ? absl::StrCat(model.vocabulary_words, " words") : "-"},
                   {"checksum", model.checksum}};
  AppendComputation(model, fields);
  if (model.sinusoidal_base) fields.emplace_back("sinusoidal base", absl::StrCat(*model.sinusoidal_base));
  if (model.rotary) AppendRotary("rotary", *model.rotary, fields);
  for (const client::RotaryLayerType& layer : model.rotary_layer_types) {
    AppendRotary(layer.layer_type, layer.parameters, fields);
  }
  for (const std::string& note : model.notes) fields.emplace_back("note", note);
  std::string text = absl::StrCat(FieldsText(fields), "\n", TablesText(model.tables));
  if (!model.inferred_from.empty()) absl::StrAppend(&text, "\n", InferredText(model.inferred_from));
  return text;
}

}  // namespace embd::cli
