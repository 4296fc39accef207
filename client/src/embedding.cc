#include "embd/client/embedding.h"

#include <initializer_list>

#include "absl/strings/str_cat.h"

namespace embd::client {
namespace {

template <typename T>
absl::StatusOr<std::span<const T>> View(const Embedding& embedding, std::initializer_list<DataType> types) {
  for (const DataType type : types) {
    if (embedding.data_type() != type) continue;
    const std::span<const std::byte> bytes = embedding.bytes();
    return std::span<const T>(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the elements are ", DataTypeName(embedding.data_type()), ", not ", DataTypeName(*types.begin())));
}

}  // namespace

template <>
absl::StatusOr<std::span<const float>> Embedding::As<float>() const {
  return View<float>(*this, {DataType::kFloat32});
}

template <>
absl::StatusOr<std::span<const std::uint16_t>> Embedding::As<std::uint16_t>() const {
  return View<std::uint16_t>(*this, {DataType::kFloat16, DataType::kBfloat16});
}

}  // namespace embd::client
