#include "server/formats/safetensors_header.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"
#include "server/formats/json_reader.h"
#include "server/formats/safetensors_entries.h"

namespace embd::formats {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

absl::StatusOr<std::string> ReadHeaderText(const FileReader& file) {
  if (file.size() < kLengthBytes) {
    return InvalidFile(absl::StrCat("byte ", file.size(), ": the file ends within the length of its header"));
  }
  std::array<unsigned char, kLengthBytes> length_bytes{};
  if (auto status = file.ReadAt(0, std::as_writable_bytes(std::span(length_bytes))); !status.ok()) return status;
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i > 0; --i) length = length << 8 | length_bytes[i - 1];
  if (length > kMaxHeaderBytes) {
    return InvalidFile(absl::StrCat("byte 0: a header of ", length, " bytes exceeds ", kMaxHeaderBytes));
  }
  if (length > file.size() - kLengthBytes) {
    return InvalidFile(absl::StrCat("byte 0: a header of ", length, " bytes goes beyond the file's ", file.size()));
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  if (auto status = file.ReadAt(kLengthBytes, std::as_writable_bytes(std::span(text))); !status.ok()) return status;
  return text;
}

// The key that stands more than once in the header, if there is one.
absl::Status CheckKeysUnique(SafetensorsEntries& entries) {
  if (entries.metadata_count() > 1) return InvalidFile("__metadata__ stands twice");
  std::vector<std::string>& keys = entries.metadata_keys();
  std::sort(keys.begin(), keys.end());
  if (const auto twice = std::adjacent_find(keys.begin(), keys.end()); twice != keys.end()) {
    return InvalidFile(absl::StrCat("__metadata__: key ", core::Quote(*twice), " stands twice"));
  }
  const std::vector<SafetensorsTensor>& tensors = entries.tensors();
  std::vector<std::uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return tensors[a].name < tensors[b].name; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::string& name = tensors[order[i]].name;
    if (name == tensors[order[i - 1]].name) {
      return InvalidFile(absl::StrCat("tensor ", core::Quote(name), ": the name stands twice"));
    }
  }
  return absl::OkStatus();
}

// Whether the tensors, sorted by place, follow each other without hole or overlap and end where the file ends.
absl::Status CheckCoverage(const std::vector<SafetensorsTensor>& tensors, std::uint64_t data_bytes) {
  std::uint64_t end = 0;
  for (const SafetensorsTensor& tensor : tensors) {
    if (tensor.begin != end) {
      return InvalidFile(absl::StrCat("tensor ", core::Quote(tensor.name), ": data_offsets [", tensor.begin, ", ",
                                      tensor.end, "] ", tensor.begin < end ? "overlap the data before" : "leave a hole",
                                      ", which ends at ", end));
    }
    end = tensor.end;
  }
  if (end != data_bytes) {
    return InvalidFile(absl::StrCat("the tensors take ", end, " bytes of data, the file holds ", data_bytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SafetensorsHeader> ReadSafetensorsHeader(const FileReader& file) {
  SafetensorsHeader header;
  SafetensorsEntries entries;
  {
    const auto text = ReadHeaderText(file);
    if (!text.ok()) return text.status();
    if (auto status = ParseJson(*text, kLengthBytes, entries); !status.ok()) return status;
    header.data_offset = kLengthBytes + text->size();
  }
  if (auto status = CheckKeysUnique(entries); !status.ok()) return status;
  header.tensors = std::move(entries.tensors());
  std::sort(header.tensors.begin(), header.tensors.end(), [](const SafetensorsTensor& a, const SafetensorsTensor& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  if (auto status = CheckCoverage(header.tensors, file.size() - header.data_offset); !status.ok()) return status;
  return header;
}

}  // namespace embd::formats
