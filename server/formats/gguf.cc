#include "server/formats/gguf.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"
#include "server/formats/gguf_file.h"

namespace embd::formats {
namespace {

constexpr char kTokenTable[] = "token_embd.weight";
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

std::string ListNames(const std::vector<GgufTensor>& tensors) {
  constexpr std::size_t kMaxNames = 10;
  if (tensors.empty()) return "none";
  std::string list;
  for (std::size_t i = 0; i < tensors.size() && i < kMaxNames; ++i) {
    absl::StrAppend(&list, i == 0 ? "" : ", ", core::Quote(tensors[i].name));
  }
  if (tensors.size() > kMaxNames) absl::StrAppend(&list, ", … (", tensors.size(), " in all)");
  return list;
}

absl::Status CheckIsTable(const GgufTensor& tensor) {
  const std::string label = absl::StrCat("tensor ", core::Quote(tensor.name), ": ");
  if (!tensor.type->stored.has_value() && tensor.type->decode == nullptr) {
    return UnsupportedFormat(absl::StrCat(label, "type ", tensor.type->name,
                                          " is not served; F32, F16, BF16, Q4_0, Q8_0, Q4_K and Q6_K are"));
  }
  if (tensor.rank != 2) {
    return InvalidFile(absl::StrCat(label, "its shape has ", Count(tensor.rank, "dimension"), "; a table has 2"));
  }
  if (tensor.sizes[0] == 0 || tensor.sizes[1] == 0) {
    return InvalidFile(absl::StrCat(label, "shape [", tensor.sizes[0], ", ", tensor.sizes[1], "] has no elements"));
  }
  return absl::OkStatus();
}

// Reads and decodes some blocks at a time.
absl::Status Decode(const FileReader& file, const GgufTensor& tensor, std::span<float> out) {
  const auto block_bytes = static_cast<std::size_t>(tensor.type->block_bytes);
  const auto block_elements = static_cast<std::size_t>(tensor.type->block_elements);
  std::vector<std::byte> blocks(kPieceBytes / block_bytes * block_bytes);
  std::uint64_t offset = tensor.offset;
  while (!out.empty()) {
    const std::size_t count = std::min(blocks.size() / block_bytes, out.size() / block_elements);
    const auto piece = std::span(blocks).first(count * block_bytes);
    if (auto status = file.ReadAt(offset, piece); !status.ok()) return status;
    tensor.type->decode(piece, out.first(count * block_elements));
    offset += piece.size();
    out = out.subspan(count * block_elements);
  }
  return absl::OkStatus();
}

absl::StatusOr<LoadedRows> LoadDecoded(const FileReader& file, const GgufTensor& tensor, const StorageOptions& how) {
  constexpr auto kType = core::ElementType::kFloat32;
  const std::int64_t rows = tensor.sizes[1];
  const std::int64_t columns = tensor.sizes[0];
  if (how.mmap) return CannotMap(absl::StrCat("type ", tensor.type->name));
  const auto bytes = core::TableBytes(rows, columns, kType);
  if (!bytes.ok()) return bytes.status();
  auto storage = AllocateTableStorage(*bytes, how.reserve);
  if (!storage.ok()) return storage.status();
  const std::span<float> elements(reinterpret_cast<float*>(storage->data()), *bytes / sizeof(float));
  if (auto status = Decode(file, tensor, elements); !status.ok()) return status;
  auto table = core::Table::Create(rows, columns, kType, *std::move(storage));
  if (!table.ok()) return table.status();
  return LoadedRows::Of(*std::move(table));
}

}  // namespace

absl::StatusOr<LoadedRows> LoadGguf(const FileReader& file, absl::string_view name, const StorageOptions& how) {
  const auto header = ReadGguf(file);
  if (!header.ok()) return header.status();
  if (name.empty()) name = kTokenTable;
  const GgufTensor* const tensor = header->Find(name);
  if (tensor == nullptr) {
    return core::InvalidArgument("TENSOR_NOT_FOUND", absl::StrCat("no tensor ", core::Quote(name), "; the file has ",
                                                                  ListNames(header->tensors)));
  }
  if (auto status = CheckIsTable(*tensor); !status.ok()) return status;
  if (!tensor->type->stored.has_value()) return LoadDecoded(file, *tensor, how);
  return LoadStoredRows(
      file,
      {.type = *tensor->type->stored, .rows = tensor->sizes[1], .columns = tensor->sizes[0], .offset = tensor->offset},
      how);
}

}  // namespace embd::formats
