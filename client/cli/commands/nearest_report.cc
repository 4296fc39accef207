#include "client/cli/commands/nearest_report.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

using client::NearestTokens;
using client::NearRow;

std::string NameOf(const std::vector<std::string>& queries, std::size_t index) {
  return index < queries.size() ? queries[index] : absl::StrCat("vector ", index);
}

nlohmann::ordered_json ToJson(const NearestTokens& nearest, client::Metric metric, bool has_words,
                              const std::vector<std::string>& queries) {
  auto lists = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < nearest.queries.size(); ++i) {
    auto rows = nlohmann::ordered_json::array();
    for (const NearRow& row : nearest.queries[i]) {
      nlohmann::ordered_json entry = {{"id", row.id}, {"score", row.score}};
      if (has_words) entry["token"] = row.token;
      rows.push_back(std::move(entry));
    }
    lists.push_back({{"query", NameOf(queries, i)}, {"rows", std::move(rows)}});
  }
  return {{"model", nearest.model},
          {"model_version", nearest.model_version},
          {"table", std::string(TableKindName(nearest.table))},
          {"metric", std::string(MetricName(metric))},
          {"queries", std::move(lists)}};
}

std::string ToText(const NearestTokens& nearest, client::Metric metric, bool has_words,
                   const std::vector<std::string>& queries) {
  std::vector<Column> columns = {{"id", kRight}, {std::string(MetricName(metric)), kRight}};
  if (has_words) columns.push_back({"token"});
  std::string text;
  for (std::size_t i = 0; i < nearest.queries.size(); ++i) {
    std::vector<std::vector<std::string>> rows;
    for (const NearRow& row : nearest.queries[i]) {
      rows.push_back({absl::StrCat(row.id), absl::StrFormat("%.6f", row.score)});
      if (has_words) rows.back().push_back(absl::Utf8SafeCEscape(row.token));
    }
    absl::StrAppend(&text, i > 0 ? "\n" : "", "nearest to ", NameOf(queries, i), " in the ",
                    TableKindName(nearest.table), " table\n", TableText(columns, rows));
  }
  return text;
}

}  // namespace

Outcome PrintNearest(client::NearestTokensRequest request, const std::vector<std::string>& queries,
                     const Session& session) {
  if (request.table == client::TableKind::kToken) {
    const auto model = session.client.DescribeModel({.model = request.model});
    if (!model.ok()) return Refused(model.status());
    request.with_tokens = model->vocabulary_words > 0;
  }
  const absl::StatusOr<NearestTokens> nearest = session.client.NearestTokens(request);
  if (!nearest.ok()) return Refused(nearest.status());
  if (session.json) {
    session.PrintJson(ToJson(*nearest, request.metric, request.with_tokens, queries));
  } else {
    session.world.out << ToText(*nearest, request.metric, request.with_tokens, queries);
  }
  return {};
}

}  // namespace embd::cli
