#include "server/service/nearest_tokens.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/diagnostics/row_search.h"
#include "server/core/error.h"
#include "server/service/nearest_queries.h"
#include "server/service/output_type.h"
#include "server/service/shared_work.h"
#include "server/service/table_choice.h"

namespace embd::service {
namespace {

constexpr std::int32_t kDefaultTopK = 10;
constexpr std::int32_t kMaxTopK = 1024;

absl::StatusOr<core::RowScore> ToRowScore(v1::Metric metric) {
  switch (metric) {
    case v1::METRIC_UNSPECIFIED:
    case v1::METRIC_COSINE: return core::RowScore::kCosine;
    case v1::METRIC_DOT: return core::RowScore::kDot;
    case v1::METRIC_L2: return core::RowScore::kDistance;
    default: return UnknownEnum("metric", metric, "COSINE, DOT, L2");
  }
}

absl::StatusOr<std::int32_t> ToTopK(std::int32_t top_k) {
  if (top_k == 0) return kDefaultTopK;
  if (top_k > 0 && top_k <= kMaxTopK) return top_k;
  return core::InvalidArgument("INVALID_OPTION", absl::StrCat("top_k = ", top_k, " is outside [0, ", kMaxTopK, "]"));
}

absl::Status CheckHasWords(const core::Model& model, v1::TableKind kind) {
  if (kind != v1::TABLE_KIND_TOKEN) {
    return core::InvalidArgument("INVALID_OPTION", absl::StrCat("with_tokens: rows of ", v1::TableKind_Name(kind),
                                                                " have no words; those of the token table have"));
  }
  if (model.vocabulary() != nullptr) return absl::OkStatus();
  return core::Error(absl::StatusCode::kFailedPrecondition, "NO_VOCABULARY",
                     absl::StrCat("with_tokens: model ", core::Quote(model.name()), " has no vocabulary"));
}

}  // namespace

absl::StatusOr<v1::NearestTokensResponse> AnswerNearestTokens(const core::ModelRegistry& models, WorkerPool& pool,
                                                              const v1::NearestTokensRequest& request,
                                                              absl::FunctionRef<absl::Status()> interrupted) {
  const auto model = models.Find(request.model(), request.model_version());
  if (!model.ok()) return model.status();
  const auto table = ChooseTable(**model, request.table(), v1::TABLE_KIND_TOKEN);
  if (!table.ok()) return table.status();
  const auto score = ToRowScore(request.metric());
  if (!score.ok()) return score.status();
  const auto top_k = ToTopK(request.top_k());
  if (!top_k.ok()) return top_k.status();
  if (request.with_tokens()) {
    if (absl::Status status = CheckHasWords(**model, table->kind); !status.ok()) return status;
  }
  auto queries = ReadNearestQueries(**model, *table, request, interrupted);
  if (!queries.ok()) return queries.status();
  if (request.include_queries()) queries->named.clear();

  const auto found = core::SearchRows(
      *table->table, {.queries = queries->vectors, .score = *score, .top_k = *top_k, .left_out = queries->named},
      [&pool, interrupted](std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) {
        return ShareWork(pool, count, piece, interrupted);
      });
  if (!found.ok()) return found.status();
  if (absl::Status status = (*model)->CheckUndamaged(); !status.ok()) return status;

  v1::NearestTokensResponse response;
  response.set_model((*model)->name());
  response.set_model_version((*model)->version());
  response.set_table(table->kind);
  for (const std::vector<core::ScoredRow>& rows : *found) {
    response.add_row_lengths(static_cast<std::int64_t>(rows.size()));
    for (const core::ScoredRow& row : rows) {
      response.add_ids(row.row);
      response.add_scores(row.score);
      if (request.with_tokens()) response.add_tokens(core::ValidUtf8((*model)->vocabulary()->word(row.row)));
    }
  }
  return response;
}

}  // namespace embd::service
