#include "server/service/table_choice.h"

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::service {
namespace {

ChosenTable Chosen(v1::TableKind kind, const core::ModelTable& entry) {
  return {.kind = kind, .table = &entry.table, .entry = &entry};
}

}  // namespace

absl::StatusOr<ChosenTable> ChooseTable(const core::Model& model, v1::TableKind named, v1::TableKind otherwise) {
  const v1::TableKind kind = named == v1::TABLE_KIND_UNSPECIFIED ? otherwise : named;
  switch (kind) {
    case v1::TABLE_KIND_TOKEN: return Chosen(kind, model.token());
    case v1::TABLE_KIND_POSITION:
      if (model.position() != nullptr) return Chosen(kind, *model.position());
      return core::Error(
          absl::StatusCode::kFailedPrecondition, "NO_POSITION_TABLE",
          absl::StrCat("model ", core::Quote(model.name()), " has no position table; its position encoding is ",
                       core::PositionEncodingName(model.position_encoding()), "; its token table can be asked for"));
    case v1::TABLE_KIND_TOKEN_TYPE:
      if (const auto& types = model.token_types(); types.has_value()) {
        return Chosen(kind, types->table.has_value() ? *types->table : model.token());
      }
      [[fallthrough]];
    case v1::TABLE_KIND_OUTPUT:
      return core::Error(
          absl::StatusCode::kFailedPrecondition, "NO_SUCH_TABLE",
          absl::StrCat("model ", core::Quote(model.name()), " has no table of kind ", v1::TableKind_Name(kind)));
    default:
      return core::InvalidArgument(
          "UNKNOWN_ENUM_VALUE",
          absl::StrCat("table = ", static_cast<int>(kind),
                       " is no value of its enum; allowed are TOKEN, POSITION, TOKEN_TYPE, OUTPUT"));
  }
}

}  // namespace embd::service
