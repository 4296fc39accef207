#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/render/array_text.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

using Json = nlohmann::ordered_json;
using Fields = std::vector<std::pair<std::string, std::string>>;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}

Json ToJson(const client::TableDescription& table) {
  return {{"kind", std::string(TableKindName(table.kind))},
          {"data_type", std::string(DataTypeName(table.data_type))},
          {"shape", table.shape},
          {"element_count", table.element_count},
          {"parameter_count", table.parameter_count},
          {"byte_size", table.byte_size},
          {"checksum", table.checksum},
          {"source", table.source}};
}

// The fields that are set.
Json ToJson(const client::RotaryScaling& scaling) {
  Json result = {{"type", scaling.type.empty() ? "default" : scaling.type}};
  const auto add = [&result](const char* name, const auto& value) {
    if (value) result[name] = *value;
  };
  add("factor", scaling.factor);
  add("original_max_position_embeddings", scaling.original_max_position_embeddings);
  add("max_position_embeddings", scaling.max_position_embeddings);
  add("low_freq_factor", scaling.low_freq_factor);
  add("high_freq_factor", scaling.high_freq_factor);
  add("beta_fast", scaling.beta_fast);
  add("beta_slow", scaling.beta_slow);
  add("attention_factor", scaling.attention_factor);
  add("mscale", scaling.mscale);
  add("mscale_all_dim", scaling.mscale_all_dim);
  add("truncate", scaling.truncate);
  if (!scaling.short_factor.empty()) result["short_factor"] = scaling.short_factor;
  if (!scaling.long_factor.empty()) result["long_factor"] = scaling.long_factor;
  return result;
}

Json ToJson(const client::RotaryParameters& rotary) {
  return {{"head_dim", rotary.head_dim},
          {"rotary_dim", OrNull(rotary.rotary_dim)},
          {"theta", OrNull(rotary.theta)},
          {"pairing", std::string(RotaryPairingName(rotary.pairing))},
          {"scaling", rotary.scaling ? ToJson(*rotary.scaling) : Json()}};
}

Json ToJson(const std::vector<client::RotaryLayerType>& layer_types) {
  Json result = Json::object();
  for (const client::RotaryLayerType& layer : layer_types) result[layer.layer_type] = ToJson(layer.parameters);
  return result;
}

Json ToJson(const client::ModelDescription& model) {
  Json tables = Json::array();
  for (const client::TableDescription& table : model.tables) tables.push_back(ToJson(table));
  return {{"name", model.name},
          {"version", model.version},
          {"generation", model.generation},
          {"checksum", model.checksum},
          {"position_encoding", std::string(PositionEncodingName(model.position_encoding))},
          {"vocab_size", model.vocab_size},
          {"embedding_dim", model.embedding_dim},
          {"max_context_length", OrNull(model.max_context_length)},
          {"parameter_count", model.parameter_count},
          {"vocabulary_words", model.vocabulary_words},
          {"sinusoidal_base", OrNull(model.sinusoidal_base)},
          {"rotary", model.rotary ? ToJson(*model.rotary) : Json()},
          {"rotary_layer_types", ToJson(model.rotary_layer_types)},
          {"tables", tables}};
}

void AppendRotary(const client::RotaryParameters& rotary, Fields& fields) {
  fields.emplace_back("rotary head dim", absl::StrCat(rotary.head_dim));
  fields.emplace_back("rotary dim", absl::StrCat(rotary.rotary_dim.value_or(rotary.head_dim)));
  fields.emplace_back("rotary theta", absl::StrCat(rotary.theta.value_or(10000)));
  fields.emplace_back("rotary pairing", std::string(RotaryPairingName(rotary.pairing)));
  if (rotary.scaling) fields.emplace_back("rotary scaling", ToJson(*rotary.scaling).dump());
}

std::string TablesText(const std::vector<client::TableDescription>& tables) {
  constexpr auto kRight = Column::Align::kRight;
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

std::string ToText(const client::ModelDescription& model) {
  Fields fields = {{"model", model.name},
                   {"version", absl::StrCat(model.version, ", generation ", model.generation)},
                   {"positions", std::string(PositionEncodingName(model.position_encoding))},
                   {"vocab size", absl::StrCat(model.vocab_size)},
                   {"embedding dim", absl::StrCat(model.embedding_dim)},
                   {"max context length", model.max_context_length ? absl::StrCat(*model.max_context_length) : "-"},
                   {"parameters", absl::StrCat(model.parameter_count)},
                   {"vocabulary", model.vocabulary_words > 0 ? absl::StrCat(model.vocabulary_words, " words") : "-"},
                   {"checksum", model.checksum}};
  if (model.sinusoidal_base) fields.emplace_back("sinusoidal base", absl::StrCat(*model.sinusoidal_base));
  if (model.rotary) AppendRotary(*model.rotary, fields);
  for (const client::RotaryLayerType& layer : model.rotary_layer_types) {
    fields.emplace_back(absl::StrCat("rotary of ", layer.layer_type), ToJson(layer.parameters).dump());
  }
  return absl::StrCat(FieldsText(fields), "\n", TablesText(model.tables));
}

Outcome RunDescribe(const std::string& model, const Session& session) {
  const absl::StatusOr<client::ModelDescription> description = session.client.DescribeModel({.model = model});
  if (!description.ok()) return Refused(description.status());
  if (session.json) {
    session.PrintJson(ToJson(*description));
  } else {
    session.world.out << ToText(*description);
  }
  return {};
}

}  // namespace

void AddDescribeCommand(CLI::App& app, Action& action) {
  auto model = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand("describe", "All about one model: its tables, counts and checksums");
  command->add_option("MODEL", *model, "Name of a model, see `embdctl models`")->required()->type_name("");
  command->footer("Example: embdctl describe demo-learned");
  command->callback([model, &action] {
    action.ask_server = [model](const Session& session) { return RunDescribe(*model, session); };
  });
}

}  // namespace embd::cli
