#include "server/formats/load_vector.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/tensor/decode.h"
#include "server/core/tensor/element_type.h"
#include "server/formats/byte_order.h"
#include "server/formats/file_error.h"
#include "server/formats/file_reader.h"
#include "server/formats/gguf_file.h"
#include "server/formats/npy_header.h"
#include "server/formats/out_of_memory.h"
#include "server/formats/safetensors_header.h"
#include "server/formats/safetensors_lookup.h"

namespace embd::formats {
namespace {

/// Where the elements of a vector lie.
struct Place {
  std::uint64_t offset = 0;
  std::size_t count = 0;  // all of them lie inside the file
  core::ElementType type = core::ElementType::kFloat32;
  bool big_endian = false;
};

absl::StatusOr<Place> FindInSafetensors(const FileReader& file, const std::string& name) {
  const auto header = ReadSafetensorsHeader(file);
  if (!header.ok()) return header.status();
  const auto tensor = FindNamedTensor(*header, name);
  if (!tensor.ok()) return tensor.status();
  if (auto status = CheckIsVector(**tensor); !status.ok()) return status;
  return Place{.offset = header->data_offset + (*tensor)->begin,
               .count = static_cast<std::size_t>((*tensor)->rank == 1 ? (*tensor)->rows() : (*tensor)->columns()),
               .type = *(*tensor)->type->element_type};
}

absl::StatusOr<Place> FindInNpy(const FileReader& file, const std::string& name) {
  if (!name.empty()) {
    return core::InvalidArgument(
        "TENSOR_NOT_FOUND", absl::StrCat("no tensor ", core::Quote(name), ": an .npy file holds one, without a name"));
  }
  const auto layout = ReadNpyLayout(file, 1);
  if (!layout.ok()) return layout.status();
  const std::uint64_t size = core::ElementSize(layout->header.type);
  const std::uint64_t data = file.size() - layout->data_offset;
  const auto count = static_cast<std::uint64_t>(layout->header.rows);
  if (data % size != 0 || data / size != count) {
    return InvalidFile(absl::StrCat("byte ", layout->data_offset, ": shape (", count, ",) of ",
                                    core::ElementTypeName(layout->header.type), " does not take the ", data,
                                    " bytes of data that the file holds"));
  }
  return Place{.offset = layout->data_offset,
               .count = static_cast<std::size_t>(count),
               .type = layout->header.type,
               .big_endian = layout->header.big_endian};
}

absl::StatusOr<Place> FindInGguf(const FileReader& file, const std::string& name) {
  const auto gguf = ReadGguf(file);
  if (!gguf.ok()) return gguf.status();
  const GgufTensor* const tensor = gguf->Find(name);
  if (tensor == nullptr) {
    return core::InvalidArgument("TENSOR_NOT_FOUND", absl::StrCat("no tensor ", core::Quote(name)));
  }
  if (tensor->rank != 1) {
    return InvalidFile(absl::StrCat("tensor ", core::Quote(name), ": must have one dimension, has ", tensor->rank));
  }
  if (!tensor->type->stored.has_value()) {
    return UnsupportedFormat(
        absl::StrCat("tensor ", core::Quote(name), ": a vector of type ", tensor->type->name, " is not served"));
  }
  return Place{
      .offset = tensor->offset, .count = static_cast<std::size_t>(tensor->sizes[0]), .type = *tensor->type->stored};
}

absl::StatusOr<Place> Find(const FileReader& file, const std::string& path, const std::string& tensor) {
  if (absl::EndsWithIgnoreCase(path, ".safetensors")) return FindInSafetensors(file, tensor);
  if (absl::EndsWithIgnoreCase(path, ".gguf")) return FindInGguf(file, tensor);
  if (absl::EndsWithIgnoreCase(path, ".npy")) return FindInNpy(file, tensor);
  return UnsupportedFormat("a vector is read from .safetensors, .gguf and .npy files only");
}

// Reads piece by piece: what is not float32 needs no second copy of the whole.
absl::StatusOr<std::vector<float>> Read(const FileReader& file, const Place& place) {
  constexpr std::size_t kPiece = 8192;
  const std::size_t size = core::ElementSize(place.type);
  std::vector<float> out(place.count);
  std::vector<std::byte> bytes(std::min(kPiece, place.count) * size);
  std::vector<double> values(std::min(kPiece, place.count));
  for (std::size_t first = 0; first < place.count; first += kPiece) {
    const std::size_t count = std::min(kPiece, place.count - first);
    const auto piece = std::span(bytes).first(count * size);
    if (auto status = file.ReadAt(place.offset + first * size, piece); !status.ok()) return status;
    if (place.big_endian) ReverseElementBytes(piece, size);
    core::DecodeToDouble(piece.data(), place.type, std::span(values).first(count));
    std::transform(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count),
                   out.begin() + static_cast<std::ptrdiff_t>(first),
                   [](double value) { return static_cast<float>(value); });
  }
  return out;
}

absl::StatusOr<std::vector<float>> Load(const std::string& path, const std::string& tensor) {
  const auto file = FileReader::Open(path);
  if (!file.ok()) return file.status();
  const auto place = Find(*file, path, tensor);
  if (!place.ok()) return place.status();
  auto values = Read(*file, *place);
  if (!values.ok()) return values.status();
  if (auto status = file->CheckUnchanged(); !status.ok()) return status;
  return values;
}

}  // namespace

absl::StatusOr<std::vector<float>> LoadVector(const std::string& path, const std::string& tensor) {
  return CatchOutOfMemory(path, [&]() -> absl::StatusOr<std::vector<float>> {
    auto values = Load(path, tensor);
    if (!values.ok()) return AtPath(path, values.status());
    return values;
  });
}

}  // namespace embd::formats
