#include "client/cli/commands/embedding_view.h"

#include "absl/strings/str_cat.h"

namespace embd::cli {

absl::StatusOr<DataType> ElementTypeOf(client::DataType type) {
  switch (type) {
    case client::DataType::kFloat32: return DataType::kFloat32;
    case client::DataType::kFloat16: return DataType::kFloat16;
    case client::DataType::kBfloat16: return DataType::kBFloat16;
    default: return absl::InternalError(absl::StrCat("the server sent embeddings of type ", DataTypeName(type)));
  }
}

absl::StatusOr<TensorView> ViewOf(const client::Embedding& embedding) {
  const absl::StatusOr<DataType> type = ElementTypeOf(embedding.data_type());
  if (!type.ok()) return type.status();
  return TensorView{.type = *type, .shape = embedding.shape(), .bytes = embedding.bytes()};
}

}  // namespace embd::cli
