#include "client/cli/commands/explanation.h"

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/files/number_text.h"
#include "client/cli/render/shown_rows.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

using client::CellExplanation;
using Json = nlohmann::ordered_json;

// One step of the sum: a column of numbers.
struct Step {
  std::string title;
  const std::vector<float>* values;
};

bool IsScaled(const CellExplanation& cell) { return cell.token_scale != 1; }
bool IsNormalised(const CellExplanation& cell) { return cell.layer_norm_eps.has_value(); }

// What is added to the token row, in the model's order.
std::vector<Step> Addends(const CellExplanation& cell) {
  std::vector<Step> addends;
  if (cell.token_type) addends.push_back({"type", &cell.token_type_values});
  if (cell.position_row) addends.push_back({"position", &cell.position_values});
  if (addends.size() == 2 && cell.position_before_type) std::swap(addends[0], addends[1]);
  return addends;
}

std::string Formula(const CellExplanation& cell) {
  std::string sum = cell.token_row ? absl::StrCat("token[", *cell.token_row, "]") : "zeros";
  if (IsScaled(cell)) absl::StrAppend(&sum, " * ", cell.token_scale);
  for (const Step& step : Addends(cell)) {
    absl::StrAppend(&sum, " + ", step.title, "[", step.title == "type" ? *cell.token_type : *cell.position_row, "]");
  }
  if (IsNormalised(cell)) sum = absl::StrCat("LayerNorm(", sum, ")");
  return absl::StrCat("embedding = ", sum);
}

std::vector<Step> Steps(const CellExplanation& cell) {
  std::vector<Step> steps = {{"token", &cell.token_values}};
  if (IsScaled(cell)) steps.push_back({"scaled", &cell.scaled_values});
  for (Step& addend : Addends(cell)) steps.push_back(std::move(addend));
  if (IsNormalised(cell) || cell.zeroed) steps.push_back({"sum", &cell.sum});
  steps.push_back({"embedding", &cell.embedding});
  return steps;
}

std::string Heading(const CellExplanation& cell) {
  std::string text = absl::StrCat(cell.model, ": id ", cell.id);
  if (!cell.token.empty()) absl::StrAppend(&text, " ", Quoted(cell.token));
  if (!cell.token_row) absl::StrAppend(&text, " (no row: zeros)");
  if (cell.token_row && *cell.token_row != cell.id) absl::StrAppend(&text, " (read as row ", *cell.token_row, ")");
  if (cell.token_type) absl::StrAppend(&text, ", type ", *cell.token_type);
  if (cell.position) absl::StrAppend(&text, ", position ", *cell.position);
  return absl::StrCat(text, "\n");
}

// The double of the fewest digits that read back as the float, which is how a float is spelled elsewhere.
Json ShortNumbers(const std::vector<float>& values) {
  Json list = Json::array();
  for (const float value : values) {
    double number = static_cast<double>(value);
    for (int digits = 6; digits <= 9 && std::isfinite(value); ++digits) {
      number = std::strtod(absl::StrFormat("%.*g", digits, value).c_str(), nullptr);
      if (static_cast<float>(number) == value) break;
    }
    list.push_back(number);
  }
  return list;
}

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}

}  // namespace

std::string ExplanationText(const CellExplanation& cell, bool all) {
  std::string text = absl::StrCat(Heading(cell), Formula(cell), "\n");
  if (IsNormalised(cell)) {
    absl::StrAppend(&text,
                    absl::StrFormat("LayerNorm: mean %.7g, variance %.7g, eps %g\n", cell.layer_norm_mean.value_or(0),
                                    cell.layer_norm_variance.value_or(0), *cell.layer_norm_eps));
  }
  if (cell.zeroed) absl::StrAppend(&text, "the cell is masked, and the model makes such cells zero\n");
  const std::vector<Step> steps = Steps(cell);
  std::vector<Column> columns = {{"d", kRight}};
  for (const Step& step : steps) columns.push_back({step.title, kRight});
  const auto rows = ShownRows(cell.embedding.size(), all, [&steps](std::size_t d) {
    std::vector<std::string> row = {absl::StrCat(d)};
    for (const Step& step : steps) row.push_back(absl::StrFormat("%.7g", step.values->at(d)));
    return row;
  });
  return absl::StrCat(text, TableText(columns, rows));
}

Json ExplanationJson(const CellExplanation& cell) {
  return {{"model", cell.model},
          {"model_version", cell.model_version},
          {"id", cell.id},
          {"token_row", OrNull(cell.token_row)},
          {"token", cell.token},
          {"token_scale", cell.token_scale},
          {"token_values", ShortNumbers(cell.token_values)},
          {"scaled_values", ShortNumbers(cell.scaled_values)},
          {"token_type", OrNull(cell.token_type)},
          {"token_type_values", ShortNumbers(cell.token_type_values)},
          {"position", OrNull(cell.position)},
          {"position_row", OrNull(cell.position_row)},
          {"position_values", ShortNumbers(cell.position_values)},
          {"sum", ShortNumbers(cell.sum)},
          {"position_before_type", cell.position_before_type},
          {"layer_norm_mean", OrNull(cell.layer_norm_mean)},
          {"layer_norm_variance", OrNull(cell.layer_norm_variance)},
          {"layer_norm_eps", OrNull(cell.layer_norm_eps)},
          {"layer_norm_weight", ShortNumbers(cell.layer_norm_weight)},
          {"layer_norm_bias", ShortNumbers(cell.layer_norm_bias)},
          {"embedding", ShortNumbers(cell.embedding)},
          {"zeroed", cell.zeroed}};
}

}  // namespace embd::cli
