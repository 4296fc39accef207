#ifndef EMBD_SERVER_CONFIG_READ_ROWS_H_
#define EMBD_SERVER_CONFIG_READ_ROWS_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "server/config/map_reader.h"
#include "server/config/server_config.h"

// Where the rows of a table come from: what token and position tables have in common.
namespace embd::config {

/// `path` as seen from `folder`: absolute paths, and all paths where `folder` is empty, stay as they are.
[[nodiscard]] std::string InFolder(const std::string& folder, const std::string& path);

/// The keys that `ReadTableFile` reads; a section may have fewer of them.
inline constexpr std::array<absl::string_view, 8> kTableFileKeys = {"file",  "tensor", "vocabulary", "dtype",
                                                                    "shape", "offset", "mmap",       "nan"};

/// Reads the keys of kTableFileKeys that the section has. Without a file, reports that `needed` is missing; an
/// empty `needed` says that the file may be inferred, and the path is then empty.
[[nodiscard]] TableFile ReadTableFile(MapReader& table, const std::string& folder, absl::string_view needed);

/// Reads mean, std and seed into `rows`, whose values are the defaults.
void ReadSeededRows(MapReader& seeded, SeededRows& rows);

/// Reports, at the row count's key, a float32 table of `rows` × `width` whose bytes exceed 2^63 - 1. A count below 1
/// has been reported already and is passed over.
void CheckTableSize(MapReader& table, absl::string_view rows_key, std::int64_t rows, std::int64_t width);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_READ_ROWS_H_
