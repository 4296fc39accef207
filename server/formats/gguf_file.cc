#include "server/formats/gguf_file.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/tensor/checked_math.h"
#include "server/formats/byte_cursor.h"
#include "server/formats/file_error.h"
#include "server/formats/out_of_memory.h"

namespace embd::formats {
namespace {

constexpr std::uint64_t kMaxEntries = 131'072;     // of tensors and of metadata
constexpr std::uint64_t kLeastTensorBytes = 24;    // name length, rank, type, offset
constexpr std::uint64_t kLeastMetadataBytes = 13;  // key length, type, a byte
constexpr std::uint64_t kMaxNameBytes = 64;
constexpr std::uint64_t kDefaultAlignment = 32;

absl::Status CheckVersion(std::uint32_t version) {
  if (version == 2 || version == 3) return absl::OkStatus();
  if (version != 0 && (version & 0xFFFFu) == 0)
    return UnsupportedFormat("byte 4: a big-endian GGUF file is not served");
  if (version == 0) return InvalidFile("byte 4: GGUF version 0 is unknown");
  return UnsupportedFormat(absl::StrCat("byte 4: GGUF version ", version, " is not served; 2 and 3 are"));
}

// A count of things of which each takes at least so many bytes.
std::uint64_t ReadCount(ByteCursor& cursor, absl::string_view what, std::uint64_t least_bytes) {
  const std::uint64_t start = cursor.position();
  const auto count = cursor.Read<std::uint64_t>();
  if (count > kMaxEntries || count > cursor.left() / least_bytes) {
    cursor.Fail(start,
                absl::StrCat("says ", count, " ", what, "; the file cannot hold them, or they exceed ", kMaxEntries));
  }
  return cursor.status().ok() ? count : 0;
}

// A power of two; the reader of the metadata has seen to its type.
std::uint64_t Alignment(ByteCursor& cursor, const GgufMetadata& metadata) {
  const auto entry = metadata.find(kGgufAlignmentKey);
  if (entry == metadata.end()) return kDefaultAlignment;
  const auto* const value = std::get_if<std::int64_t>(&entry->second);
  if (value != nullptr && *value > 0 && std::has_single_bit(static_cast<std::uint64_t>(*value))) {
    return static_cast<std::uint64_t>(*value);
  }
  cursor.Fail(cursor.position(), absl::StrCat(kGgufAlignmentKey, " must be a power of two, got ",
                                              value == nullptr ? "something else" : absl::StrCat(*value)));
  return kDefaultAlignment;
}

// The bytes of the tensor's elements, from its sizes and type.
std::optional<std::uint64_t> TensorBytes(const GgufTensor& tensor) {
  const auto elements = core::CheckedProduct({tensor.sizes[0], tensor.sizes[1], tensor.sizes[2], tensor.sizes[3]});
  if (!elements.has_value()) return std::nullopt;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(*elements) / tensor.type->block_elements,
                             tensor.type->block_bytes, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

/// Reads the descriptions of tensors, each checked by itself.
class TensorReader {
 public:
  explicit TensorReader(ByteCursor& cursor) : cursor_(cursor) {}

  // With `offset` as it stands in the file: from the start of the data on.
  GgufTensor Read() {
    start_ = cursor_.position();
    GgufTensor tensor;
    ReadName(tensor);
    ReadSizes(tensor);
    ReadType(tensor);
    tensor.offset = cursor_.Read<std::uint64_t>();
    return tensor;
  }

 private:
  void Fail(const GgufTensor& tensor, absl::string_view message) {
    cursor_.Fail(start_, absl::StrCat("tensor ", core::Quote(tensor.name), ": ", message));
  }

  void ReadName(GgufTensor& tensor) {
    const auto size = cursor_.Read<std::uint64_t>();
    if (cursor_.status().ok() && (size == 0 || size > kMaxNameBytes)) {
      cursor_.Fail(start_, absl::StrCat("a tensor's name must have 1 to ", kMaxNameBytes, " bytes, got ", size));
    }
    if (cursor_.status().ok()) tensor.name = cursor_.ReadText(size);
  }

  void ReadSizes(GgufTensor& tensor) {
    tensor.rank = cursor_.Read<std::uint32_t>();
    if (tensor.rank > tensor.sizes.size()) {
      Fail(tensor, absl::StrCat("has ", tensor.rank, " dimensions; there can be ", tensor.sizes.size()));
      return;
    }
    for (std::uint32_t i = 0; i < tensor.rank; ++i) {
      tensor.sizes.at(i) = cursor_.Read<std::int64_t>();
      if (tensor.sizes.at(i) < 0) Fail(tensor, "a dimension exceeds 2^63 - 1");
    }
  }

  void ReadType(GgufTensor& tensor) {
    const auto number = cursor_.Read<std::uint32_t>();
    tensor.type = FindGgufType(number);
    if (tensor.type == nullptr) return Fail(tensor, absl::StrCat("type ", number, " is unknown"));
    if (tensor.type->block_elements == 0) {
      return Fail(tensor, absl::StrCat("type ", number, " (", tensor.type->name, ") was given up"));
    }
    const auto block = static_cast<std::int64_t>(tensor.type->block_elements);
    if (tensor.sizes[0] % block != 0) {
      return Fail(tensor, absl::StrCat("rows of ", tensor.sizes[0], " elements do not fill whole blocks of ", block,
                                       " ", tensor.type->name));
    }
    const auto bytes = TensorBytes(tensor);
    if (!bytes.has_value()) return Fail(tensor, "its shape takes more than 2^63 - 1 elements or 2^64 - 1 bytes");
    tensor.bytes = *bytes;
  }

  ByteCursor& cursor_;
  std::uint64_t start_ = 0;  // of the description that is being read
};

absl::Status CheckNamesUnique(const std::vector<GgufTensor>& tensors) {
  std::vector<absl::string_view> names;
  names.reserve(tensors.size());
  for (const GgufTensor& tensor : tensors) names.emplace_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return absl::OkStatus();
  return InvalidFile(absl::StrCat("tensor ", core::Quote(*twice), ": the name stands twice"));
}

// Whether the tensors follow each other in the order of the file, each at the next multiple of the alignment, and all
// of them end inside the file. Turns their offsets into places in the file.
absl::Status PlaceTensors(std::vector<GgufTensor>& tensors, std::uint64_t data_offset, std::uint64_t alignment,
                          std::uint64_t file_size) {
  std::uint64_t next = 0;
  for (GgufTensor& tensor : tensors) {
    const std::string label = absl::StrCat("tensor ", core::Quote(tensor.name), ": ");
    if (tensor.offset != next) {
      return InvalidFile(absl::StrCat(label, "offset ", tensor.offset, " should be ", next,
                                      ", behind the tensor before it with an alignment of ", alignment));
    }
    if (data_offset > file_size || next > file_size - data_offset || tensor.bytes > file_size - data_offset - next) {
      return InvalidFile(absl::StrCat(label, tensor.bytes, " bytes at ", next, " of the data, which begins at ",
                                      data_offset, ", go beyond the file's ", file_size));
    }
    tensor.offset = data_offset + next;
    next += (tensor.bytes + alignment - 1) / alignment * alignment;  // both are less than the file's size, or 2^31
  }
  return absl::OkStatus();
}

}  // namespace

const GgufTensor* GgufFile::Find(absl::string_view name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [name](const GgufTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

absl::StatusOr<GgufFile> ReadGguf(const FileReader& file) {
  ByteCursor cursor(file);
  GgufFile result;
  const std::string magic = cursor.ReadText(std::min<std::uint64_t>(4, file.size()));
  if (!cursor.status().ok()) return cursor.status();
  if (magic != "GGUF") return InvalidFile("byte 0: not a GGUF file: it must begin with GGUF");
  result.version = cursor.Read<std::uint32_t>();
  if (!cursor.status().ok()) return cursor.status();
  if (auto status = CheckVersion(result.version); !status.ok()) return status;
  const std::uint64_t tensor_count = ReadCount(cursor, "tensors", kLeastTensorBytes);
  const std::uint64_t metadata_count = ReadCount(cursor, "pairs of metadata", kLeastMetadataBytes);
  result.metadata = ReadGgufMetadata(cursor, metadata_count);
  const std::uint64_t alignment = Alignment(cursor, result.metadata);
  TensorReader reader(cursor);
  for (std::uint64_t i = 0; i < tensor_count && cursor.status().ok(); ++i) result.tensors.push_back(reader.Read());
  if (!cursor.status().ok()) return cursor.status();
  if (auto status = CheckNamesUnique(result.tensors); !status.ok()) return status;
  const std::uint64_t data_offset = (cursor.position() + alignment - 1) / alignment * alignment;
  if (auto status = PlaceTensors(result.tensors, data_offset, alignment, file.size()); !status.ok()) return status;
  return result;
}

absl::StatusOr<GgufFile> OpenGguf(const std::string& path) {
  return CatchOutOfMemory(path, [&path]() -> absl::StatusOr<GgufFile> {
    const auto file = FileReader::Open(path);
    if (!file.ok()) return AtPath(path, file.status());
    auto result = ReadGguf(*file);
    if (!result.ok()) return AtPath(path, result.status());
    if (auto status = file->CheckUnchanged(); !status.ok()) return AtPath(path, status);
    return result;
  });
}

}  // namespace embd::formats
