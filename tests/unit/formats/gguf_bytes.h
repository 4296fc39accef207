#ifndef EMBD_TESTS_UNIT_FORMATS_GGUF_BYTES_H_
#define EMBD_TESTS_UNIT_FORMATS_GGUF_BYTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/formats/file_bytes.h"

namespace embd::formats {

/// A text as GGUF files hold it: its length and its bytes.
inline std::string GgufText(const std::string& text) { return LittleEndian(text.size(), 8) + text; }

/// A pair of metadata; `kind` is the number of the value's type.
inline std::string GgufPair(const std::string& key, std::uint32_t kind, const std::string& value) {
  return GgufText(key) + LittleEndian(kind, 4) + value;
}

/// The description of a tensor; its sizes innermost first.
inline std::string GgufEntry(const std::string& name, const std::vector<std::uint64_t>& sizes, std::uint32_t type,
                             std::uint64_t offset) {
  std::string bytes = GgufText(name) + LittleEndian(sizes.size(), 4);
  for (const std::uint64_t size : sizes) bytes += LittleEndian(size, 8);
  return bytes + LittleEndian(type, 4) + LittleEndian(offset, 8);
}

/// The parts of a file; a part that is not given is as it should be.
struct GgufParts {
  std::string magic = "GGUF";
  std::uint32_t version = 3;
  std::vector<std::string> pairs;
  std::vector<std::string> tensors;
  std::string data;
  std::uint64_t alignment = 32;
  std::uint64_t extra_tensors = 0;  ///< said to be there, and not there
  std::uint64_t extra_pairs = 0;
};

inline std::string GgufBytes(const GgufParts& parts) {
  std::string bytes = parts.magic + LittleEndian(parts.version, 4) +
                      LittleEndian(parts.tensors.size() + parts.extra_tensors, 8) +
                      LittleEndian(parts.pairs.size() + parts.extra_pairs, 8);
  for (const std::string& pair : parts.pairs) bytes += pair;
  for (const std::string& tensor : parts.tensors) bytes += tensor;
  bytes.resize((bytes.size() + parts.alignment - 1) / parts.alignment * parts.alignment, '\0');
  return bytes + parts.data;
}

}  // namespace embd::formats

#endif  // EMBD_TESTS_UNIT_FORMATS_GGUF_BYTES_H_
