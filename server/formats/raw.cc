#include "server/formats/raw.h"

#include "absl/strings/str_cat.h"
#include "server/formats/file_error.h"

namespace embd::formats {

absl::StatusOr<LoadedRows> LoadRaw(const FileReader& file, const RawLayout& layout, const StorageOptions& how) {
  const auto bytes = core::TableBytes(layout.rows, layout.columns, layout.type);
  if (!bytes.ok()) return bytes.status();
  if (layout.offset > file.size() || file.size() - layout.offset != *bytes) {
    return InvalidFile(absl::StrCat(layout.rows, " x ", layout.columns, " ", core::ElementTypeName(layout.type),
                                    " take ", *bytes, " bytes behind offset ", layout.offset, ", the file has ",
                                    file.size(), " in all"));
  }
  return LoadStoredRows(file, {layout.type, layout.rows, layout.columns, layout.offset}, how);
}

}  // namespace embd::formats
