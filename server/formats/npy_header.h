#ifndef EMBD_SERVER_FORMATS_NPY_HEADER_H_
#define EMBD_SERVER_FORMATS_NPY_HEADER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/tensor/element_type.h"
#include "server/formats/file_reader.h"

namespace embd::formats {

/// What the header of an .npy file says about its array of two dimensions, or of one: then of one column.
struct NpyHeader {
  core::ElementType type = core::ElementType::kFloat32;
  bool big_endian = false;
  bool column_major = false;  ///< Fortran order
  std::int64_t rows = 0;      ///< at least 0
  std::int64_t columns = 1;   ///< at least 0
};

/// Parses the header's text: a Python dict with exactly the keys descr, fortran_order and shape.
///
/// `offset` is the place of `text` in the file, for messages; `rank` the number of dimensions wanted: 2, or 1.
/// Errors:
///   INVALID_ARGUMENT  [INVALID_FILE] not that dict, or not so many dimensions.
///   UNIMPLEMENTED     [UNSUPPORTED_FORMAT] a dtype but float16, float32 and float64; by its name.
[[nodiscard]] absl::StatusOr<NpyHeader> ParseNpyDict(absl::string_view text, std::uint64_t offset,
                                                     std::int64_t rank = 2);

/// A header and where the elements begin.
struct NpyLayout {
  NpyHeader header;
  std::uint64_t data_offset = 0;
};

/// Reads magic, version (1.0, 2.0, 3.0) and header of `file`.
///
/// Errors: those of `ParseNpyDict`, and
///   INVALID_ARGUMENT  [INVALID_FILE] wrong magic or version, or a header of more than 64 KiB or beyond the file's end.
[[nodiscard]] absl::StatusOr<NpyLayout> ReadNpyLayout(const FileReader& file, std::int64_t rank = 2);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_NPY_HEADER_H_
