#include "server/service/nearest_queries.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/core/diagnostics/fixed_order_dot.h"
#include "server/core/error.h"
#include "server/core/tensor/decode.h"
#include "server/service/vector_tensor.h"

namespace embd::service {
namespace {

using core::InvalidArgument;

constexpr double kSmallestNorm = 1e-8;
constexpr std::size_t kRowsBetweenLooks = 1024;

// Exactly one kind of queries, and not too many of them.
absl::Status CheckOneKind(const v1::NearestTokensRequest& request) {
  const std::pair<std::int64_t, const char*> kinds[] = {{request.ids_size(), "ids"},
                                                        {request.tokens_size(), "tokens"},
                                                        {request.analogies_size(), "analogies"},
                                                        {request.has_vectors() ? 1 : 0, "vectors"}};
  const char* first = nullptr;
  for (const auto& [count, name] : kinds) {
    if (count == 0) continue;
    if (first != nullptr) {
      return InvalidArgument("INVALID_OPTION", absl::StrCat(first, " and ", name, " exclude each other"));
    }
    if (count > kMaxVectors) {
      return InvalidArgument("INVALID_OPTION",
                             absl::StrCat(count, " ", name, " exceed the ", kMaxVectors, " queries of one call"));
    }
    first = name;
  }
  if (first != nullptr) return absl::OkStatus();
  return InvalidArgument("INVALID_OPTION", "no queries: one of ids, tokens, analogies and vectors must be given");
}

// Reads the queries of a checked request one after the other.
class Reader {
 public:
  Reader(const core::Model& model, const ChosenTable& table, const v1::NearestTokensRequest& request,
         absl::FunctionRef<absl::Status()> interrupted)
      : model_(model),
        kind_(table.kind),
        table_(*table.table),
        request_(request),
        interrupted_(interrupted),
        dim_(static_cast<std::size_t>(table_.dim())),
        row_(dim_),
        sum_(dim_) {}

  absl::StatusOr<NearestQueries> Read() && {
    absl::Status status = AddEachRow("ids", request_.ids());
    if (status.ok()) status = AddEachRow("tokens", request_.tokens());
    if (status.ok()) status = AddAnalogies();
    if (status.ok() && request_.has_vectors()) status = AddVectors();
    if (!status.ok()) return status;
    return std::move(queries_);
  }

 private:
  // A row that a query names. `cell` says where, e.g. "ids[3]".
  absl::StatusOr<std::int64_t> RowOf(absl::string_view cell, std::int64_t id) const {
    if (id >= 0 && id < table_.rows()) return id;
    return InvalidArgument("ID_OUT_OF_RANGE",
                           absl::StrCat(cell, " = ", id, " is outside [0, ", table_.rows(), ") of ",
                                        v1::TableKind_Name(kind_), " of model ", core::Quote(model_.name())));
  }

  absl::StatusOr<std::int64_t> RowOf(absl::string_view cell, const std::string& token) const {
    if (kind_ != v1::TABLE_KIND_TOKEN) {
      return InvalidArgument("INVALID_OPTION", absl::StrCat(cell,
                                                            " is a word, and words name rows of the token table, "
                                                            "but table is ",
                                                            v1::TableKind_Name(kind_)));
    }
    const core::Vocabulary* const vocabulary = model_.vocabulary();
    if (vocabulary == nullptr) {
      return core::Error(absl::StatusCode::kFailedPrecondition, "NO_VOCABULARY",
                         absl::StrCat("model ", core::Quote(model_.name()), " has no vocabulary; ask by ids"));
    }
    const auto id = vocabulary->Find(token);
    if (id.has_value()) return *id;
    return InvalidArgument("UNKNOWN_TOKEN",
                           absl::StrCat(cell, " = ", core::Quote(token), " is not in the vocabulary of model ",
                                        core::Quote(model_.name()), ", which has ", vocabulary->size(), " words"));
  }

  // Adds the rows that a list names, times `factor`, to the query that is being made.
  template <typename List>
  absl::Status AddRows(absl::string_view list_name, const List& list, double factor, bool normalise) {
    for (int i = 0; i < list.size(); ++i) {
      std::vector<std::int64_t>& named = queries_.named.back();
      if (named.size() % kRowsBetweenLooks == 0) {
        if (absl::Status status = interrupted_(); !status.ok()) return status;
      }
      const auto row = RowOf(absl::StrCat(list_name, "[", i, "]"), list.Get(i));
      if (!row.ok()) return row.status();
      core::DecodeToDouble(table_.row(*row), table_.element_type(), row_);
      const double norm = normalise ? std::max(std::sqrt(core::FixedOrderDot(row_, row_)), kSmallestNorm) : 1.0;
      for (std::size_t d = 0; d < dim_; ++d) sum_[d] += factor * (row_[d] / norm);
      named.push_back(*row);
    }
    return absl::OkStatus();
  }

  // What stands in `sum_` is the next query, rounded.
  void EndQuery() {
    for (const double value : sum_) queries_.vectors.push_back(static_cast<float>(value));
  }

  template <typename List>
  absl::Status AddEachRow(absl::string_view list_name, const List& list) {
    for (int i = 0; i < list.size(); ++i) {
      const auto row = RowOf(absl::StrCat(list_name, "[", i, "]"), list.Get(i));
      if (!row.ok()) return row.status();
      core::DecodeToDouble(table_.row(*row), table_.element_type(), sum_);
      queries_.named.push_back({*row});
      EndQuery();
    }
    return absl::OkStatus();
  }

  absl::Status AddAnalogies() {
    const bool normalise = request_.metric() == v1::METRIC_UNSPECIFIED || request_.metric() == v1::METRIC_COSINE;
    for (int i = 0; i < request_.analogies_size(); ++i) {
      const v1::Analogy& analogy = request_.analogies(i);
      const std::string name = absl::StrCat("analogies[", i, "]");
      std::fill(sum_.begin(), sum_.end(), 0.0);
      std::vector<std::int64_t>& named = queries_.named.emplace_back();
      absl::Status status = AddRows(name + ".plus_ids", analogy.plus_ids(), 1.0, normalise);
      if (status.ok()) status = AddRows(name + ".plus_tokens", analogy.plus_tokens(), 1.0, normalise);
      if (status.ok()) status = AddRows(name + ".minus_ids", analogy.minus_ids(), -1.0, normalise);
      if (status.ok()) status = AddRows(name + ".minus_tokens", analogy.minus_tokens(), -1.0, normalise);
      if (!status.ok()) return status;
      if (named.empty()) return InvalidArgument("INVALID_OPTION", absl::StrCat(name, " names no rows"));
      std::sort(named.begin(), named.end());
      EndQuery();
    }
    return absl::OkStatus();
  }

  absl::Status AddVectors() {
    auto vectors = ReadVectors(request_.vectors(), table_.dim());
    if (!vectors.ok()) return vectors.status();
    queries_.vectors = *std::move(vectors);
    queries_.named.resize(queries_.vectors.size() / dim_);
    return absl::OkStatus();
  }

  const core::Model& model_;
  const v1::TableKind kind_;
  const core::Table& table_;
  const v1::NearestTokensRequest& request_;
  const absl::FunctionRef<absl::Status()> interrupted_;
  const std::size_t dim_;
  std::vector<double> row_;
  std::vector<double> sum_;
  NearestQueries queries_;
};

}  // namespace

absl::StatusOr<NearestQueries> ReadNearestQueries(const core::Model& model, const ChosenTable& table,
                                                  const v1::NearestTokensRequest& request,
                                                  absl::FunctionRef<absl::Status()> interrupted) {
  if (absl::Status status = CheckOneKind(request); !status.ok()) return status;
  return Reader(model, table, request, interrupted).Read();
}

}  // namespace embd::service
