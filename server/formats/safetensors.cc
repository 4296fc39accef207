#include "server/formats/safetensors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"
#include "server/formats/safetensors_header.h"

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

absl::Status CheckIsTable(const SafetensorsTensor& tensor) {
  const std::string label = absl::StrCat("tensor ", core::Quote(tensor.name), ": ");
  if (!tensor.type->element_type.has_value()) {
    return UnsupportedFormat(
        absl::StrCat(label, "dtype ", tensor.type->name, " is not served; F32, F16, BF16 and F64 are"));
  }
  if (tensor.rank != 2) {
    return InvalidFile(absl::StrCat(label, "its shape has ", Count(static_cast<std::int64_t>(tensor.rank), "dimension"),
                                    "; a table has 2"));
  }
  if (tensor.rows() == 0 || tensor.columns() == 0) {
    return InvalidFile(absl::StrCat(label, "shape [", tensor.rows(), ", ", tensor.columns(), "] has no elements"));
  }
  return absl::OkStatus();
}

absl::StatusOr<const SafetensorsTensor*> FindTensor(const SafetensorsHeader& header, absl::string_view name) {
  TensorList all;
  TensorList candidates;
  for (const SafetensorsTensor& tensor : header.tensors) {
    if (!name.empty() && tensor.name == name) return &tensor;
    all.push_back(&tensor);
    if (CheckIsTable(tensor).ok()) candidates.push_back(&tensor);
  }
  if (!name.empty()) {
    return TensorNotFound(absl::StrCat("no tensor ", core::Quote(name), "; the file has ", List(all, NameOf)));
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

}  // namespace

absl::StatusOr<core::Table> LoadSafetensors(const FileReader& file, absl::string_view name, const Reserve& reserve) {
  const auto header = ReadSafetensorsHeader(file);
  if (!header.ok()) return header.status();
  const auto tensor = FindTensor(*header, name);
  if (!tensor.ok()) return tensor.status();
  if (auto status = CheckIsTable(**tensor); !status.ok()) return status;
  // The offsets lie inside the file, so the sizes fit in 63 bits.
  auto storage = AllocateTableStorage(static_cast<std::size_t>((*tensor)->end - (*tensor)->begin), reserve);
  if (!storage.ok()) return storage.status();
  if (auto status = file.ReadAt(header->data_offset + (*tensor)->begin, storage->bytes()); !status.ok()) return status;
  return core::Table::Create(static_cast<std::int64_t>((*tensor)->rows()),
                             static_cast<std::int64_t>((*tensor)->columns()), *(*tensor)->type->element_type,
                             *std::move(storage));
}

}  // namespace embd::formats
