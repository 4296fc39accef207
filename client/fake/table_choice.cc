#include "client/fake/table_choice.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "client/fake/lookup.h"
#include "client/fake/refusal.h"

namespace embd::client::fake {

absl::StatusOr<ChosenTable> ChooseTable(const FakeModel& model, TableKind named, TableKind otherwise) {
  const TableKind kind = named == TableKind::kUnspecified ? otherwise : named;
  const auto chosen = [&](std::int64_t rows, const std::vector<float>& values) {
    return ChosenTable{.kind = kind, .rows = rows, .dim = model.embedding_dim, .values = values.data()};
  };
  if (kind < TableKind::kUnspecified || kind > TableKind::kOutput) {
    return Invalid("UNKNOWN_ENUM_VALUE", absl::StrCat("table ", static_cast<int>(kind), " is unknown"));
  }
  if (kind == TableKind::kToken) return chosen(VocabSize(model), model.token);
  if (kind == TableKind::kTokenType && TypeRows(model) > 0) return chosen(TypeRows(model), model.token_type);
  if (kind == TableKind::kPosition && PositionRows(model) > 0) return chosen(PositionRows(model), model.position);
  return ErrorWithReason(absl::StatusCode::kFailedPrecondition,
                         kind == TableKind::kPosition ? "NO_POSITION_TABLE" : "NO_SUCH_TABLE",
                         absl::StrCat("model \"", model.name, "\" has no such table"));
}

}  // namespace embd::client::fake
