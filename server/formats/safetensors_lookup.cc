#include "server/formats/safetensors_lookup.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"

namespace embd::formats {
namespace {

using TensorList = std::vector<const SafetensorsTensor*>;

std::string NameOf(const SafetensorsTensor& tensor) { return core::Quote(tensor.name); }

// "weight" [768, 3072] F32
std::string Description(const SafetensorsTensor& tensor) {
  const std::size_t known = std::min<std::size_t>(tensor.rank, tensor.sizes.size());
  return absl::StrCat(NameOf(tensor), " [", absl::StrJoin(tensor.sizes.begin(), tensor.sizes.begin() + known, ", "),
                      known < tensor.rank ? ", …] " : "] ", tensor.type->name);
}

// What `describe` says of up to ten tensors, fewer where that is long, and how many there are in all.
std::string List(const TensorList& tensors, std::string (*describe)(const SafetensorsTensor&)) {
  constexpr std::size_t kMaxNames = 10;
  constexpr std::size_t kMaxBytes = 600;
  if (tensors.empty()) return "none";
  std::string list;
  std::size_t listed = 0;
  for (; listed < tensors.size() && listed < kMaxNames && list.size() < kMaxBytes; ++listed) {
    absl::StrAppend(&list, listed == 0 ? "" : ", ", describe(*tensors[listed]));
  }
  if (listed < tensors.size()) absl::StrAppend(&list, ", … (", tensors.size(), " in all)");
  return list;
}

absl::Status TensorNotFound(absl::string_view message) { return core::InvalidArgument("TENSOR_NOT_FOUND", message); }

absl::Status CheckType(const SafetensorsTensor& tensor) {
  if (tensor.type->element_type.has_value()) return absl::OkStatus();
  return UnsupportedFormat(absl::StrCat("tensor ", core::Quote(tensor.name), ": dtype ", tensor.type->name,
                                        " is not served; F32, F16, BF16 and F64 are"));
}

}  // namespace

absl::Status CheckIsTable(const SafetensorsTensor& tensor) {
  if (auto status = CheckType(tensor); !status.ok()) return status;
  const std::string label = absl::StrCat("tensor ", core::Quote(tensor.name), ": ");
  if (tensor.rank != 2) {
    return InvalidFile(absl::StrCat(label, "its shape has ", Count(static_cast<std::int64_t>(tensor.rank), "dimension"),
                                    "; a table has 2"));
  }
  if (tensor.rows() == 0 || tensor.columns() == 0) {
    return InvalidFile(absl::StrCat(label, "shape [", tensor.rows(), ", ", tensor.columns(), "] has no elements"));
  }
  return absl::OkStatus();
}

absl::Status CheckIsVector(const SafetensorsTensor& tensor) {
  if (auto status = CheckType(tensor); !status.ok()) return status;
  const bool is_single_row = tensor.rank == 2 && tensor.rows() == 1;
  if (tensor.rank != 1 && !is_single_row) {
    return InvalidFile(absl::StrCat("tensor ", core::Quote(tensor.name), ": its shape has ",
                                    Count(static_cast<std::int64_t>(tensor.rank), "dimension"), "; a vector has 1"));
  }
  return absl::OkStatus();
}

absl::StatusOr<const SafetensorsTensor*> FindNamedTensor(const SafetensorsHeader& header, absl::string_view name) {
  TensorList all;
  for (const SafetensorsTensor& tensor : header.tensors) {
    if (tensor.name == name) return &tensor;
    all.push_back(&tensor);
  }
  return TensorNotFound(absl::StrCat("no tensor ", core::Quote(name), "; the file has ", List(all, NameOf)));
}

absl::StatusOr<const SafetensorsTensor*> FindOnlyTable(const SafetensorsHeader& header) {
  TensorList all;
  TensorList candidates;
  for (const SafetensorsTensor& tensor : header.tensors) {
    all.push_back(&tensor);
    if (CheckIsTable(tensor).ok()) candidates.push_back(&tensor);
  }
  if (candidates.empty()) {
    return TensorNotFound(absl::StrCat("no tensor is a table: two dimensions of F32, F16, BF16 or F64; the file has ",
                                       List(all, Description)));
  }
  if (candidates.size() > 1) {
    return TensorNotFound(absl::StrCat("several tensors could be meant, name one: ", List(candidates, NameOf)));
  }
  return candidates.front();
}

}  // namespace embd::formats
