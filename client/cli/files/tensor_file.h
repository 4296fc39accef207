#ifndef EMBD_CLIENT_CLI_FILES_TENSOR_FILE_H_
#define EMBD_CLIENT_CLI_FILES_TENSOR_FILE_H_

#include <iosfwd>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/files/tensor.h"
#include "client/cli/files/uneven_rows.h"

namespace embd::cli {

/// How a tensor is written in a file.
///
/// | ending       | what stands there                                                    | ids (B, T)        |
/// |--------------|----------------------------------------------------------------------|-------------------|
/// | .npy         | the array, as numpy.save writes it                                   | int32, int64      |
/// | .json        | nested lists                                                         | [[1, 2], [3, 4]]  |
/// | .jsonl       | one element of the outermost extent a line: a (T, D) list a line     | [1, 2] a line     |
/// | .csv         | one line a row of the (B*T, D) matrix, commas between                | a batch row a line|
/// | .txt         | the same, blanks between; read, ';' ends a row as well               | a batch row a line|
/// | .safetensors | one tensor named "embeddings"                                        | named "ids"       |
///
/// Text holds floats in the fewest digits that read back as the same value.
enum class FileFormat : std::uint8_t { kNpy, kJson, kJsonl, kCsv, kTxt, kSafetensors };

/// The format named "npy", "json", "jsonl", "csv", "txt" or "safetensors", a leading point allowed.
///
/// Errors:
///   INVALID_ARGUMENT  none of these.
[[nodiscard]] absl::StatusOr<FileFormat> FormatNamed(absl::string_view name);

/// The format of a path: `name` where it is not empty, else by the path's ending, for "-" `standard_format`.
///
/// Errors:
///   INVALID_ARGUMENT  an unknown name or ending; lists the known ones.
[[nodiscard]] absl::StatusOr<FileFormat> FormatOf(const std::string& path, absl::string_view name,
                                                  FileFormat standard_format);

/// Reads (B, T) ids; `path` "-" reads `standard_input` to its end. One vector of ids is one row. int32 and smaller
/// types become int64.
///
/// Errors (each message begins with the path):
///   INVALID_ARGUMENT  the file cannot be read, breaks its format's rules, holds no integers, or is not of one or
///                     two extents.
[[nodiscard]] absl::StatusOr<Tensor> ReadIds(const std::string& path, FileFormat format, std::istream& standard_input);

/// Reads whole numbers in rows that need not be equally long, which .json, .jsonl, .csv and .txt can hold. Errors as
/// `ReadIds`.
[[nodiscard]] absl::StatusOr<UnevenRows> ReadUnevenRows(const std::string& path, FileFormat format,
                                                        std::istream& standard_input);

/// Reads a tensor of any shape, as `ReadIds` does; numbers in text become float32, the type of embeddings.
[[nodiscard]] absl::StatusOr<Tensor> ReadTensor(const std::string& path, FileFormat format,
                                                std::istream& standard_input);

/// Writes a tensor, under `name` where the format has names; `path` "-" writes to `standard_output`. A file is written
/// under another name beside its place and then renamed, so that a failure leaves what was there before; it keeps the
/// mode of a file that it replaces, and goes where symbolic links lead. A path that is no regular file (a device, a
/// named pipe) is written directly.
///
/// Errors (each message begins with the path):
///   INVALID_ARGUMENT  the format cannot hold the type, or the file cannot be written; with the system's reason.
[[nodiscard]] absl::Status WriteTensor(TensorView tensor, absl::string_view name, const std::string& path,
                                       FileFormat format, std::ostream& standard_output);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_FILES_TENSOR_FILE_H_
