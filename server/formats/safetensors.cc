#include "server/formats/safetensors.h"

#include <cstdint>

#include "server/formats/safetensors_header.h"
#include "server/formats/safetensors_lookup.h"

namespace embd::formats {

absl::StatusOr<LoadedRows> LoadSafetensors(const FileReader& file, absl::string_view name, const StorageOptions& how) {
  const auto header = ReadSafetensorsHeader(file);
  if (!header.ok()) return header.status();
  const auto tensor = name.empty() ? FindOnlyTable(*header) : FindNamedTensor(*header, name);
  if (!tensor.ok()) return tensor.status();
  if (auto status = CheckIsTable(**tensor); !status.ok()) return status;
  // The offsets lie inside the file, so the sizes fit in 63 bits.
  return LoadStoredRows(file,
                        {.type = *(*tensor)->type->element_type,
                         .rows = static_cast<std::int64_t>((*tensor)->rows()),
                         .columns = static_cast<std::int64_t>((*tensor)->columns()),
                         .offset = header->data_offset + (*tensor)->begin},
                        how);
}

}  // namespace embd::formats
