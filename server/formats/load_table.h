#ifndef EMBD_SERVER_FORMATS_LOAD_TABLE_H_
#define EMBD_SERVER_FORMATS_LOAD_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/table/scan_nan.h"
#include "server/core/table/table.h"
#include "server/core/table/vocabulary.h"
#include "server/formats/raw.h"
#include "server/formats/table_storage.h"

namespace embd::formats {

/// A table as it came from a file.
struct LoadedTable {
  core::Table table;
  std::string checksum;                        ///< what core::TableChecksum says of the table
  core::NanScan nans;                          ///< what core::ScanNan says of it
  std::optional<core::Vocabulary> vocabulary;  ///< has exactly table.rows() words where it is there
  std::vector<std::string> warnings;           ///< what a careful reader should know, e.g. words that stand twice
};

/// Which part of a file is wanted.
struct TableRequest {
  std::string path;
  /// Name of the tensor, for safetensors and GGUF; empty: the only one, or GGUF's `token_embd.weight`.
  std::string tensor;
  /// Path of a vocabulary file, which goes before words in the table's file; empty: those, if any.
  std::string vocabulary;
  Reserve reserve;  ///< asked before the table is read, with its bytes; not where it is mapped
  /// Map the rows of the file instead of reading them: no memory of their own, and the system reads what is used.
  bool mmap = false;
  /// What the rows are, for files that do not say it themselves (.bin). For others an expectation: it must be what the
  /// file says, and its offset does not count.
  std::optional<RawLayout> layout;
};

/// Loads a table by the file's ending: .npy, .safetensors, .gguf; .bin holds rows and nothing else; .txt, .vec and
/// .glove hold word vectors as text. A vocabulary file has one word a line, or is .json: an array of words, or an
/// object of word -> id. Only regular files are read.
///
/// Elements keep their stored type (float32, float16, bfloat16, float64), turned to little-endian rows; quantised ones
/// become float32.
/// Cost: reads the file once (text twice) and hashes the table, both at a time where nothing is decoded; memory is the
/// table, its words, and a buffer of a few MiB.
///
/// Errors (each message begins with the path):
///   NOT_FOUND           [FILE_NOT_FOUND] the file cannot be opened; with the system's reason.
///   INVALID_ARGUMENT    [INVALID_FILE] the bytes break the format's rules: with byte offset or line, and key; or it
///                       is a folder or the like, was written to meanwhile, or the vocabulary has not a word for every
///                       row.
///   INVALID_ARGUMENT    [TENSOR_NOT_FOUND] no tensor of that name, or none named and not just one that could be meant.
///   INVALID_ARGUMENT    [LAYOUT_MISSING] a .bin file without a layout.
///   INVALID_ARGUMENT    [CANNOT_MAP] `mmap` with rows that must be decoded (text, Fortran order, big-endian,
///   quantised),
///                       or that do not begin at a multiple of their element size.
///   FAILED_PRECONDITION [LAYOUT_MISMATCH] the file says another layout than `request.layout`; with both.
///   UNIMPLEMENTED       [UNSUPPORTED_FORMAT] a known format or type that is not served, by name.
///   RESOURCE_EXHAUSTED  [OUT_OF_MEMORY] not enough memory.
///   those of `request.reserve`
[[nodiscard]] absl::StatusOr<LoadedTable> LoadTable(const TableRequest& request);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_LOAD_TABLE_H_
