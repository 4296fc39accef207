#ifndef EMBD_TESTS_UNIT_FORMATS_FILE_BYTES_H_
#define EMBD_TESTS_UNIT_FORMATS_FILE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/table/table.h"

namespace embd::formats {

/// The `count` lowest bytes of `value`, the lowest first.
inline std::string LittleEndian(std::uint64_t value, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

/// The bytes of `values` as they rest in memory.
template <typename Element>
std::string Raw(const std::vector<Element>& values) {
  std::string bytes(values.size() * sizeof(Element), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// An .npy file of version `major`.0 with that text for a header and those bytes for data.
inline std::string NpyFile(const std::string& dict, const std::string& data, int major = 1) {
  return absl::StrCat("\x93NUMPY", std::string(1, static_cast<char>(major)), std::string(1, '\0'),
                      LittleEndian(dict.size(), major == 1 ? 2 : 4), dict, data);
}

/// The header text of an array of `descr` and `shape`, e.g. "'<f4'" and "(2, 3)".
inline std::string NpyDict(const std::string& descr, const std::string& shape, bool fortran_order = false) {
  return absl::StrCat("{'descr': ", descr, ", 'fortran_order': ", fortran_order ? "True" : "False",
                      ", 'shape': ", shape, ", }\n");
}

/// A .safetensors file with that header and those bytes for data.
inline std::string SafetensorsFile(const std::string& header, const std::string& data) {
  return absl::StrCat(LittleEndian(header.size(), 8), header, data);
}

/// A header's entry for one tensor, e.g. Entry("a", "F32", "[2,3]", 0, 24).
inline std::string Entry(const std::string& name, const std::string& dtype, const std::string& shape,
                         std::uint64_t begin, std::uint64_t end) {
  return absl::StrCat("\"", name, "\":{\"dtype\":\"", dtype, "\",\"shape\":", shape, ",\"data_offsets\":[", begin, ",",
                      end, "]}");
}

/// A header of those entries.
inline std::string Header(const std::vector<std::string>& entries) {
  return absl::StrCat("{", absl::StrJoin(entries, ","), "}");
}

/// All elements of a table as unsigned numbers of their size, so that comparisons see every bit.
template <typename Bits>
std::vector<Bits> ElementBits(const core::Table& table) {
  std::vector<Bits> bits(table.bytes().size() / sizeof(Bits));
  std::memcpy(bits.data(), table.bytes().data(), table.bytes().size());
  return bits;
}

/// The bit patterns of float32 values.
inline std::vector<std::uint32_t> FloatBits(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

}  // namespace embd::formats

#endif  // EMBD_TESTS_UNIT_FORMATS_FILE_BYTES_H_
