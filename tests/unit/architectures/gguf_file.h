#ifndef EMBD_TESTS_UNIT_ARCHITECTURES_GGUF_FILE_H_
#define EMBD_TESTS_UNIT_ARCHITECTURES_GGUF_FILE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/unit/formats/file_bytes.h"

namespace embd::architectures {

inline std::string GgufText(const std::string& text) {
  return absl::StrCat(formats::LittleEndian(text.size(), 8), text);
}

/// Pairs of a GGUF file's metadata.
inline std::string GgufPair(const std::string& key, const std::string& value) {
  return absl::StrCat(GgufText(key), formats::LittleEndian(8, 4), GgufText(value));
}
inline std::string GgufPair(const std::string& key, std::uint32_t value) {
  return absl::StrCat(GgufText(key), formats::LittleEndian(4, 4), formats::LittleEndian(value, 4));
}
inline std::string GgufPair(const std::string& key, float value) {
  return absl::StrCat(GgufText(key), formats::LittleEndian(6, 4), formats::Raw(std::vector<float>{value}));
}

/// A float32 tensor of zeros.
struct GgufTestTensor {
  std::string name;
  std::vector<std::uint64_t> shape;  ///< outermost first
};

/// The bytes of a GGUF file of version 3 with those pairs and tensors.
inline std::string GgufBytes(const std::vector<std::string>& pairs, const std::vector<GgufTestTensor>& tensors) {
  constexpr std::uint64_t kAlignment = 32;
  std::string head = absl::StrCat("GGUF", formats::LittleEndian(3, 4), formats::LittleEndian(tensors.size(), 8),
                                  formats::LittleEndian(pairs.size(), 8), absl::StrJoin(pairs, ""));
  std::uint64_t offset = 0;
  for (const GgufTestTensor& tensor : tensors) {
    absl::StrAppend(&head, GgufText(tensor.name), formats::LittleEndian(tensor.shape.size(), 4));
    std::uint64_t bytes = sizeof(float);
    for (auto size = tensor.shape.rbegin(); size != tensor.shape.rend(); ++size) {
      absl::StrAppend(&head, formats::LittleEndian(*size, 8));
      bytes *= *size;
    }
    absl::StrAppend(&head, formats::LittleEndian(0, 4), formats::LittleEndian(offset, 8));
    offset += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  head.resize((head.size() + kAlignment - 1) / kAlignment * kAlignment);
  return head + std::string(offset, '\0');
}

}  // namespace embd::architectures

#endif  // EMBD_TESTS_UNIT_ARCHITECTURES_GGUF_FILE_H_
