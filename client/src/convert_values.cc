#include "client/src/convert_values.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/wire/data_type.h"

namespace embd::client {
namespace {

// Whether `bytes` are the elements of that shape.
bool IsWhole(const v1::Tensor& tensor) {
  std::int64_t size = wire::DataTypeSize(tensor.data_type());
  if (size == 0) return false;
  bool is_empty = false;
  for (const std::int64_t extent : tensor.shape()) {
    if (extent < 0) return false;
    is_empty = is_empty || extent == 0;
    if (extent > 0 && size > std::numeric_limits<std::int64_t>::max() / extent) return false;
    if (extent > 0) size *= extent;
  }
  return tensor.data().size() == (is_empty ? 0 : static_cast<std::size_t>(size));
}

}  // namespace

void ToProto(const InputTensor& tensor, v1::Tensor* message) {
  message->set_data_type(static_cast<v1::DataType>(tensor.data_type));
  message->mutable_shape()->Assign(tensor.shape.begin(), tensor.shape.end());
  message->set_data(tensor.bytes.data(), tensor.bytes.size());
}

absl::StatusOr<OutputTensor> FromProto(v1::Tensor&& message) {
  if (!IsWhole(message)) return MakesNoSense("a tensor's elements are not as many as its shape says");
  return OutputTensor{.data_type = static_cast<DataType>(message.data_type()),
                      .shape = ToVector(message.shape()),
                      .data = std::move(*message.mutable_data())};
}

absl::StatusOr<std::vector<float>> ToFloats(v1::Tensor&& message) {
  auto tensor = FromProto(std::move(message));
  if (!tensor.ok()) return tensor.status();
  const auto floats = tensor->floats();
  if (!floats.ok()) return MakesNoSense(floats.status().message());
  return std::vector<float>(floats->begin(), floats->end());
}

absl::Status MakesNoSense(absl::string_view why) {
  return absl::InternalError(absl::StrCat("the server's reply makes no sense: ", why));
}

}  // namespace embd::client
