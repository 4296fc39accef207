#include "server/formats/same_tensor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"
#include "server/formats/file_reader.h"
#include "server/formats/out_of_memory.h"
#include "server/formats/safetensors_header.h"

namespace embd::formats {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;

/// A tensor whose bytes can be read.
struct OpenTensor {
  FileReader file;
  SafetensorsTensor entry;
  std::uint64_t offset = 0;  ///< of its first byte in the file
};

absl::StatusOr<OpenTensor> OpenIt(const TensorInFile& which) {
  auto file = FileReader::Open(which.path);
  if (!file.ok()) return file.status();
  const auto header = ReadSafetensorsHeader(*file);
  if (!header.ok()) return header.status();
  for (const SafetensorsTensor& tensor : header->tensors) {
    if (tensor.name == which.tensor) return OpenTensor{*std::move(file), tensor, header->data_offset + tensor.begin};
  }
  return core::InvalidArgument("TENSOR_NOT_FOUND", absl::StrCat("no tensor ", core::Quote(which.tensor)));
}

absl::StatusOr<OpenTensor> OpenAtPath(const TensorInFile& which) {
  auto open = OpenIt(which);
  if (!open.ok()) return AtPath(which.path, open.status());
  return open;
}

// Reads the bytes [begin, begin + piece.size()) of the tensor.
absl::Status Read(const TensorInFile& which, const OpenTensor& tensor, std::uint64_t begin,
                  std::span<std::byte> piece) {
  absl::Status status = tensor.file.ReadAt(tensor.offset + begin, piece);
  return status.ok() ? status : AtPath(which.path, status);
}

absl::StatusOr<bool> Compare(const TensorInFile& a, const TensorInFile& b) {
  const auto left = OpenAtPath(a);
  if (!left.ok()) return left.status();
  const auto right = OpenAtPath(b);
  if (!right.ok()) return right.status();
  const bool alike = left->entry.type == right->entry.type && left->entry.rank == right->entry.rank &&
                     left->entry.sizes == right->entry.sizes;
  if (!alike) return false;
  const std::uint64_t bytes = left->entry.end - left->entry.begin;
  std::vector<std::byte> left_piece(std::min(bytes, kPieceBytes));
  std::vector<std::byte> right_piece(left_piece.size());
  for (std::uint64_t begin = 0; begin < bytes; begin += left_piece.size()) {
    left_piece.resize(std::min(bytes - begin, kPieceBytes));
    right_piece.resize(left_piece.size());
    if (absl::Status status = Read(a, *left, begin, left_piece); !status.ok()) return status;
    if (absl::Status status = Read(b, *right, begin, right_piece); !status.ok()) return status;
    if (left_piece != right_piece) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<bool> SameTensor(const TensorInFile& a, const TensorInFile& b) {
  return CatchOutOfMemory(a.path, [&]() { return Compare(a, b); });
}

}  // namespace embd::formats
