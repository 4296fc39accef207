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

client::DataType WireTypeOf(DataType type) {
  switch (type) {
    case DataType::kFloat32: return client::DataType::kFloat32;
    case DataType::kFloat16: return client::DataType::kFloat16;
    case DataType::kBFloat16: return client::DataType::kBfloat16;
    case DataType::kFloat64: return client::DataType::kFloat64;
    case DataType::kInt32: return client::DataType::kInt32;
    case DataType::kInt64: return client::DataType::kInt64;
  }
  return client::DataType::kUnspecified;
}

absl::StatusOr<TensorView> ViewOf(const client::Embedding& embedding) {
  const absl::StatusOr<DataType> type = ElementTypeOf(embedding.data_type());
  if (!type.ok()) return type.status();
  return TensorView{.type = *type, .shape = embedding.shape(), .bytes = embedding.bytes()};
}

}  // namespace embd::cli
