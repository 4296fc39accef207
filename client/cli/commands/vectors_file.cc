#include "client/cli/commands/vectors_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/files/tensor_file.h"

namespace embd::cli {
namespace {

absl::StatusOr<client::DataType> VectorsType(DataType type, const std::string& path) {
  switch (type) {
    case DataType::kFloat32: return client::DataType::kFloat32;
    case DataType::kFloat16: return client::DataType::kFloat16;
    case DataType::kBFloat16: return client::DataType::kBfloat16;
    case DataType::kFloat64: return client::DataType::kFloat64;
    case DataType::kInt32:
    case DataType::kInt64: break;
  }
  return absl::InvalidArgumentError(absl::StrCat(path, ": holds ", Name(type), ", but vectors are floats"));
}

}  // namespace

absl::StatusOr<client::InputTensor> ReadVectorsFile(const std::string& path, const std::string& format,
                                                    const Surroundings& world) {
  const absl::StatusOr<FileFormat> named = FormatOf(path, format, FileFormat::kJson);
  if (!named.ok()) return named.status();
  absl::StatusOr<Tensor> tensor = ReadTensor(path, *named, world.in);
  if (!tensor.ok()) return tensor.status();
  const auto type = VectorsType(tensor->type, path);
  if (!type.ok()) return type.status();
  return client::InputTensor{.data_type = *type, .shape = std::move(tensor->shape), .bytes = std::move(tensor->bytes)};
}

}  // namespace embd::cli
