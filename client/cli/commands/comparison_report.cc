#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/commands/comparison.h"
#include "client/cli/commands/position_report.h"
#include "client/cli/render/array_text.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

using client::TableKind;
using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

std::string Section(absl::string_view title, absl::string_view body) { return absl::StrCat("== ", title, "\n", body); }

std::string ShapesText(const Comparison& comparison) {
  Rows rows;
  for (const ModelFindings& model : comparison.models) {
    rows.push_back({model.description.name, ShapeText(model.token_shape), ShapeText(model.composed_shape)});
  }
  return Section(absl::StrCat("Shapes of ", comparison.options.batch_size, " x ", comparison.sequence_length,
                              " ids, drawn from seed ", comparison.options.seed),
                 TableText({{"model"}, {"token part"}, {"composed"}}, rows));
}

std::vector<std::string> PositionParameters(const ModelFindings& model) {
  const std::string encoding(PositionEncodingName(model.description.position_encoding));
  const client::TableDescription* const table = model.Table(TableKind::kPosition);
  if (table == nullptr)
    return {model.description.name, absl::StrCat(encoding, " positions"), "-", "(no position table)"};
  return {model.description.name, absl::StrCat(encoding, " positions"), absl::StrCat(table->parameter_count),
          table->parameter_count == 0 ? "(parameter-free)" : ""};
}

std::string ParametersText(const Comparison& comparison) {
  Rows rows;
  for (const ModelFindings& model : comparison.models) {
    const client::TableDescription* const token = model.Table(TableKind::kToken);
    rows.push_back(
        {model.description.name, "token table", token == nullptr ? "-" : absl::StrCat(token->parameter_count), ""});
    rows.push_back(PositionParameters(model));
  }
  return Section("Trainable parameters", TableText({{"model"}, {"table"}, {"parameters", kRight}, {""}}, rows));
}

std::size_t CurveLength(const ModelFindings& model) { return model.curve ? model.curve->mean_cosine.size() : 0; }

std::string CurvesText(const Comparison& comparison) {
  const ModelFindings* const models = comparison.models;
  Rows rows;
  for (std::size_t k = 0; k < std::max(CurveLength(models[0]), CurveLength(models[1])); ++k) {
    rows.push_back({absl::StrCat(k + 1)});
    for (const ModelFindings& model : comparison.models) {
      rows.back().push_back(k < CurveLength(model) ? absl::StrFormat("%+.4f", model.curve->mean_cosine[k]) : "-");
    }
  }
  std::string body =
      TableText({{"k", kRight}, {models[0].description.name, kRight}, {models[1].description.name, kRight}}, rows);
  for (const ModelFindings& model : comparison.models) {
    if (CurveLength(model) == 0) {
      absl::StrAppend(&body, model.description.name,
                      model.Table(TableKind::kPosition) == nullptr ? " has no position table to compare rows of\n"
                                                                   : ": its position table has one row\n");
    } else {
      absl::StrAppend(&body, model.description.name, " monotone steps: ", model.curve->monotone_steps, "/",
                      CurveLength(model) - 1, "\n");
    }
  }
  return Section("Mean cosine of positions k apart", body);
}

std::string TrialText(const LengthTrial& trial) {
  if (!trial.tried) return absl::StrCat("not tried, which stops at ", kLongestTrial);
  return trial.refusal.empty() ? "ok" : "refused";
}

std::string LengthsText(const Comparison& comparison) {
  std::string body;
  for (const ModelFindings& model : comparison.models) {
    if (model.trials.empty()) {
      absl::StrAppend(&body, model.description.name, " has no position table that could end\n");
    }
    for (const LengthTrial& trial : model.trials) {
      absl::StrAppend(&body, model.description.name, " at length ", trial.sequence_length, ": ", TrialText(trial),
                      "\n");
      if (!trial.refusal.empty()) absl::StrAppend(&body, "  caught: ", trial.refusal, "\n");
    }
  }
  return Section("Up to the last position, and one past it", body);
}

// A section whose lines are of what servers answered; nothing where no server did.
std::string OptionalSection(absl::string_view title, const std::string& body) {
  return body.empty() ? "" : absl::StrCat("\n", Section(title, body));
}

std::string WavelengthsText(const Comparison& comparison) {
  Rows rows;
  std::string refusals;
  for (const ModelFindings& model : comparison.models) {
    if (const auto& bands = model.wavelengths.value; bands) {
      rows.push_back({model.description.name, absl::StrCat(bands->wavelengths.size()), WavelengthText(bands->shortest),
                      WavelengthText(bands->longest), WavelengthText(bands->ratio), FullTurnsText(*bands)});
    }
    if (!model.wavelengths.refusal.empty()) {
      absl::StrAppend(&refusals, model.description.name, ": refused: ", model.wavelengths.refusal, "\n");
    }
  }
  if (rows.empty()) return OptionalSection("Wavelengths", refusals);
  const std::vector<Column> columns = {{"model"},           {"bands", kRight}, {"shortest", kRight},
                                       {"longest", kRight}, {"ratio", kRight}, {"whole turns"}};
  return OptionalSection("Wavelengths: positions a turn", absl::StrCat(TableText(columns, rows), refusals));
}

std::string ShiftText(const Comparison& comparison) {
  std::string body;
  for (const ModelFindings& model : comparison.models) {
    if (const auto& shift = model.shift.value; shift) {
      absl::StrAppend(&body, model.description.name, ": ",
                      absl::StrFormat("largest residual %.3g, %s, %d positions\n", shift->max_residual, MapText(*shift),
                                      shift->rows));
    } else if (!model.shift.refusal.empty()) {
      absl::StrAppend(&body, model.description.name, ": refused: ", model.shift.refusal, "\n");
    }
  }
  return OptionalSection("One linear map from each position to the next", body);
}

std::string StatisticsText(const Comparison& comparison) {
  std::string body;
  for (const ModelFindings& model : comparison.models) {
    for (const auto& [kind, statistics] : model.tables) {
      const std::string table = absl::StrCat(model.description.name, " ", TableKindName(kind), " table: ");
      if (const auto& found = statistics.value; found) {
        absl::StrAppend(&body, table,
                        absl::StrFormat("mean %+.4f, std %.4f, zero rows %d, NaNs %d\n", found->mean, found->std,
                                        found->zero_rows, found->nan_count));
      } else if (!statistics.refusal.empty()) {
        absl::StrAppend(&body, table, "refused: ", statistics.refusal, "\n");
      }
    }
  }
  return OptionalSection("Statistics of the tables", body);
}

void AddAnswers(const ModelFindings& model, Json& json) {
  json["wavelengths"] = model.wavelengths.value ? ToJson(*model.wavelengths.value) : Json();
  json["shift"] = model.shift.value ? ToJson(*model.shift.value) : Json();
  json["statistics"] = Json::array();
  for (const auto& [kind, statistics] : model.tables) {
    if (!statistics.value) continue;
    json["statistics"].push_back({{"table", std::string(TableKindName(kind))},
                                  {"mean", statistics.value->mean},
                                  {"std", statistics.value->std},
                                  {"zero_rows", statistics.value->zero_rows},
                                  {"nan_count", statistics.value->nan_count}});
  }
}

Json ModelJson(const ModelFindings& model) {
  Json tables = Json::array();
  for (const client::TableDescription& table : model.description.tables) {
    tables.push_back({{"kind", std::string(TableKindName(table.kind))}, {"parameter_count", table.parameter_count}});
  }
  Json lengths = Json::array();
  for (const LengthTrial& trial : model.trials) {
    lengths.push_back(
        {{"sequence_length", trial.sequence_length}, {"ok", trial.tried ? Json(trial.refusal.empty()) : Json()}});
    if (trial.refusal.empty()) continue;
    lengths.back()["message"] = trial.refusal;
    lengths.back()["reason"] = trial.reason;
  }
  Json json = {{"name", model.description.name},
               {"position_encoding", std::string(PositionEncodingName(model.description.position_encoding))},
               {"token_shape", model.token_shape},
               {"composed_shape", model.composed_shape},
               {"tables", tables},
               {"neighbour_similarity", Json()},
               {"lengths", lengths}};
  if (model.curve) {
    json["neighbour_similarity"] = {{"mean_cosine", model.curve->mean_cosine},
                                    {"monotone_steps", model.curve->monotone_steps}};
  }
  AddAnswers(model, json);
  return json;
}

}  // namespace

std::string ComparisonText(const Comparison& comparison) {
  return absl::StrCat(ShapesText(comparison), "\n", ParametersText(comparison), "\n", CurvesText(comparison), "\n",
                      LengthsText(comparison), WavelengthsText(comparison), ShiftText(comparison),
                      StatisticsText(comparison));
}

Json ComparisonJson(const Comparison& comparison) {
  return {{"batch_size", comparison.options.batch_size},
          {"sequence_length", comparison.sequence_length},
          {"seed", comparison.options.seed},
          {"models", {ModelJson(comparison.models[0]), ModelJson(comparison.models[1])}}};
}

}  // namespace embd::cli
