#ifndef EMBD_SERVER_FORMATS_HASHING_READ_H_
#define EMBD_SERVER_FORMATS_HASHING_READ_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "server/core/table/scan_nan.h"
#include "server/formats/file_reader.h"

namespace embd::formats {

/// How many bytes are read or looked at before they are passed on: they are still in the cache then. A multiple of
/// every element's size.
inline constexpr std::size_t kPassingBytes = std::size_t{2} << 20;

/// Fills `out` with the bytes from `offset` on, counts their NaNs, and returns their SHA-256 in hexadecimal. From a few
/// MiB on other threads read while this one hashes; the result is the same.
///
/// Errors: those of `FileReader::ReadAt`.
[[nodiscard]] absl::StatusOr<std::string> ReadAndHash(const FileReader& file, std::uint64_t offset,
                                                      std::span<std::byte> out, core::NanCounter& nans);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_HASHING_READ_H_
