#include "server/service/vector_tensor.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/wire/data_type.h"
#include "server/core/error.h"
#include "server/core/tensor/decode.h"
#include "server/service/output_type.h"

namespace embd::service {

absl::StatusOr<std::vector<float>> ReadVectors(const v1::Tensor& vectors, std::int64_t dim) {
  const auto type = ToVectorType("vectors.data_type", vectors.data_type());
  if (!type.ok()) return type.status();
  const int rank = vectors.shape_size();
  const std::int64_t count = rank == 2 ? vectors.shape(0) : 1;
  const std::string shape = absl::StrCat("(", absl::StrJoin(vectors.shape(), ", "), ")");
  if (rank < 1 || rank > 2 || vectors.shape(rank - 1) != dim || count < 1 || count > kMaxVectors) {
    return core::InvalidArgument("INVALID_SHAPE", absl::StrCat("vectors.shape must be (N, ", dim, ") or (", dim,
                                                               "), N in [1, ", kMaxVectors, "], got ", shape));
  }
  const std::size_t vector_bytes = static_cast<std::size_t>(dim) * core::ElementSize(*type);
  const std::size_t bytes = static_cast<std::size_t>(count) * vector_bytes;
  if (vectors.data().size() != bytes) {
    return core::InvalidArgument("INVALID_SHAPE",
                                 absl::StrCat("vectors.data has ", vectors.data().size(), " bytes, but ", shape, " ",
                                              wire::DataTypeName(vectors.data_type()), " needs ", bytes));
  }
  std::vector<double> wide(static_cast<std::size_t>(dim));
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(count) * wide.size());
  const auto data = std::as_bytes(std::span(vectors.data()));
  for (std::size_t first = 0; first < bytes; first += vector_bytes) {
    core::DecodeToDouble(data.data() + first, *type, wide);
    std::transform(wide.begin(), wide.end(), std::back_inserter(values),
                   [](double value) { return static_cast<float>(value); });
  }
  return values;
}

}  // namespace embd::service
