#include "server/service/table_choice.h"

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::service {

absl::StatusOr<ChosenTable> ChooseTable(const core::Model& model, v1::TableKind named, v1::TableKind otherwise) {
  const v1::TableKind kind = named == v1::TABLE_KIND_UNSPECIFIED ? otherwise : named;
  switch (kind) {
    case v1::TABLE_KIND_TOKEN: return ChosenTable{kind, &model.token().table};
    case v1::TABLE_KIND_POSITION:
      if (model.position() != nullptr) return ChosenTable{kind, &model.position()->table};
      return core::Error(
          absl::StatusCode::kFailedPrecondition, "NO_POSITION_TABLE",
          absl::StrCat("model ", core::Quote(model.name()), " has no position table; its position encoding is ",
                       core::PositionEncodingName(model.position_encoding()), "; its token table can be asked for"));
    case v1::TABLE_KIND_TOKEN_TYPE:
      if (const core::Table* const types = model.token_type_table()) return ChosenTable{kind, types};
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
