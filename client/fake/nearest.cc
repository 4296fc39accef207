#include "client/fake/nearest.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/fake/lookup.h"
#include "client/fake/refusal.h"
#include "client/fake/table_choice.h"
#include "client/fake/widen.h"

namespace embd::client::fake {
namespace {

constexpr std::int32_t kDefaultTopK = 10;
constexpr std::int32_t kMaxTopK = 1024;
constexpr std::size_t kMaxQueries = 1024;
constexpr double kSmallestNorm = 1e-8;

// One query: its vector, and the rows that it names.
struct Query {
  std::vector<float> vector;
  std::set<std::int64_t> named;
};

template <typename A, typename B>
double Dot(const A& a, const B& b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += double{a[d]} * double{b[d]};
  return sum;
}

template <typename A>
double Norm(const A& a) {
  return std::max(std::sqrt(Dot(a, a)), kSmallestNorm);
}

double ScoreOf(Metric metric, std::span<const float> row, const std::vector<float>& query) {
  if (metric == Metric::kDot) return Dot(row, query);
  if (metric != Metric::kL2) return std::clamp(Dot(row, query) / (Norm(row) * Norm(query)), -1.0, 1.0);
  double sum = 0;
  for (std::size_t d = 0; d < query.size(); ++d) sum += std::pow(double{row[d]} - double{query[d]}, 2);
  return std::sqrt(sum);
}

absl::Status CheckOptions(const FakeModel& model, const NearestTokensRequest& request, TableKind kind) {
  if (request.metric < Metric::kUnspecified || request.metric > Metric::kL2) {
    return Invalid("UNKNOWN_ENUM_VALUE", absl::StrCat("metric ", static_cast<int>(request.metric), " is unknown"));
  }
  if (request.top_k < 0 || request.top_k > kMaxTopK) {
    return Invalid("INVALID_OPTION", absl::StrCat("top_k = ", request.top_k, " is outside [0, ", kMaxTopK, "]"));
  }
  if (request.with_tokens && kind != TableKind::kToken) {
    return Invalid("INVALID_OPTION", "with_tokens: only rows of the token table have words");
  }
  if (request.with_tokens) {
    if (const auto none = FindTokens(model, {}); !none.ok()) return none.status();
  }
  const std::size_t counts[] = {request.ids.size(), request.tokens.size(), request.analogies.size(),
                                request.vectors.has_value() ? std::size_t{1} : 0};
  if (std::count(std::begin(counts), std::end(counts), 0u) != 3 || *std::ranges::max_element(counts) > kMaxQueries) {
    return Invalid("INVALID_OPTION",
                   absl::StrCat("one of ids, tokens, analogies and vectors must be given, of at most ", kMaxQueries));
  }
  return absl::OkStatus();
}

// Reads the queries of a request whose options have been checked.
class Reader {
 public:
  Reader(const FakeModel& model, const ChosenTable& table, const NearestTokensRequest& request)
      : model_(model), table_(table), request_(request) {}

  absl::StatusOr<std::vector<Query>> Read() {
    for (std::size_t i = 0; i < request_.ids.size(); ++i) {
      if (absl::Status status = AddRow(absl::StrCat("ids[", i, "]"), request_.ids[i]); !status.ok()) return status;
    }
    if (!request_.tokens.empty()) {
      const auto ids = IdsOf(request_.tokens);
      if (!ids.ok()) return ids.status();
      for (const std::int64_t id : *ids) {
        if (absl::Status status = AddRow("tokens", id); !status.ok()) return status;
      }
    }
    for (const Analogy& analogy : request_.analogies) {
      if (absl::Status status = AddAnalogy(analogy); !status.ok()) return status;
    }
    if (request_.vectors.has_value()) {
      if (absl::Status status = AddVectors(*request_.vectors); !status.ok()) return status;
    }
    return std::move(queries_);
  }

 private:
  absl::StatusOr<std::vector<std::int64_t>> IdsOf(const std::vector<std::string>& tokens) const {
    if (tokens.empty()) return std::vector<std::int64_t>();
    if (table_.kind != TableKind::kToken) return Invalid("INVALID_OPTION", "words name rows of the token table");
    auto found = FindTokens(model_, {.model = model_.name, .tokens = tokens});
    if (!found.ok()) return found.status();
    return std::move(found->ids);
  }

  absl::Status CheckRow(absl::string_view cell, std::int64_t id) const {
    if (id >= 0 && id < table_.rows) return absl::OkStatus();
    return Invalid("ID_OUT_OF_RANGE", absl::StrCat(cell, " = ", id, " is outside [0, ", table_.rows, ")"));
  }

  absl::Status AddRow(absl::string_view cell, std::int64_t id) {
    if (absl::Status status = CheckRow(cell, id); !status.ok()) return status;
    const std::span<const float> row = table_.row(id);
    queries_.push_back({.vector = {row.begin(), row.end()}, .named = {id}});
    return absl::OkStatus();
  }

  absl::Status AddAnalogy(const Analogy& analogy) {
    std::vector<double> sum(static_cast<std::size_t>(table_.dim));
    Query query;
    const auto add = [&](std::vector<std::int64_t> ids, const std::vector<std::string>& tokens, double factor) {
      const auto more = IdsOf(tokens);
      if (!more.ok()) return more.status();
      ids.insert(ids.end(), more->begin(), more->end());
      for (const std::int64_t id : ids) {
        if (absl::Status status = CheckRow("analogies", id); !status.ok()) return status;
        const std::span<const float> row = table_.row(id);
        const bool normalise = request_.metric == Metric::kUnspecified || request_.metric == Metric::kCosine;
        const double norm = normalise ? Norm(row) : 1.0;
        for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += factor * (double{row[d]} / norm);
        query.named.insert(id);
      }
      return absl::OkStatus();
    };
    if (absl::Status status = add(analogy.plus_ids, analogy.plus_tokens, 1); !status.ok()) return status;
    if (absl::Status status = add(analogy.minus_ids, analogy.minus_tokens, -1); !status.ok()) return status;
    if (query.named.empty()) return Invalid("INVALID_OPTION", "an analogy names no rows");
    for (const double value : sum) query.vector.push_back(static_cast<float>(value));
    queries_.push_back(std::move(query));
    return absl::OkStatus();
  }

  absl::Status AddVectors(const InputTensor& tensor) {
    if (tensor.data_type < DataType::kFloat32 || tensor.data_type > DataType::kFloat64) {
      return Invalid("INVALID_OPTION", absl::StrCat(DataTypeName(tensor.data_type), " is no type of vectors"));
    }
    const std::vector<std::int64_t>& shape = tensor.shape;
    const std::int64_t count = shape.size() == 2 ? shape[0] : 1;
    if (shape.empty() || shape.size() > 2 || shape.back() != table_.dim || count < 1 ||
        count > static_cast<std::int64_t>(kMaxQueries) ||
        static_cast<std::int64_t>(tensor.bytes.size()) != count * table_.dim * DataTypeSize(tensor.data_type)) {
      return Invalid("INVALID_SHAPE", absl::StrCat("vectors are not (N, ", table_.dim, ")"));
    }
    const std::vector<float> values = Widen(tensor);
    for (auto from = values.begin(); from != values.end(); from += table_.dim) {
      queries_.push_back({.vector = {from, from + table_.dim}, .named = {}});
    }
    return absl::OkStatus();
  }

  const FakeModel& model_;
  const ChosenTable& table_;
  const NearestTokensRequest& request_;
  std::vector<Query> queries_;
};

}  // namespace

absl::StatusOr<NearestTokens> FindNearest(const FakeModel& model, const NearestTokensRequest& request) {
  const auto table = ChooseTable(model, request.table, TableKind::kToken);
  if (!table.ok()) return table.status();
  if (absl::Status status = CheckOptions(model, request, table->kind); !status.ok()) return status;
  const auto queries = Reader(model, *table, request).Read();
  if (!queries.ok()) return queries.status();
  NearestTokens result = {.model = model.name, .model_version = model.version, .table = table->kind};
  for (const Query& query : *queries) {
    std::vector<NearRow>& rows = result.queries.emplace_back();
    for (std::int64_t id = 0; id < table->rows; ++id) {
      if (!request.include_queries && query.named.contains(id)) continue;
      rows.push_back({.id = id,
                      .token = request.with_tokens ? model.vocabulary[static_cast<std::size_t>(id)] : "",
                      .score = ScoreOf(request.metric, table->row(id), query.vector)});
    }
    std::ranges::stable_sort(rows, [&](const NearRow& a, const NearRow& b) {
      if (std::isnan(a.score) || std::isnan(b.score)) return std::isnan(b.score) && !std::isnan(a.score);
      return request.metric == Metric::kL2 ? a.score < b.score : a.score > b.score;
    });
    const auto top_k = static_cast<std::size_t>(request.top_k == 0 ? kDefaultTopK : request.top_k);
    rows.resize(std::min(rows.size(), top_k));
  }
  return result;
}

}  // namespace embd::client::fake
