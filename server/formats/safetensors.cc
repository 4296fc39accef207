#include "server/formats/safetensors.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "server/formats/safetensors_header.h"
#include "server/formats/safetensors_lookup.h"

namespace embd::formats {

absl::StatusOr<core::Table> LoadSafetensors(const FileReader& file, absl::string_view name, const Reserve& reserve) {
  const auto header = ReadSafetensorsHeader(file);
  if (!header.ok()) return header.status();
  const auto tensor = name.empty() ? FindOnlyTable(*header) : FindNamedTensor(*header, name);
  if (!tensor.ok()) return tensor.status();
  if (auto status = CheckIsTable(**tensor); !status.ok()) return status;
  // The offsets lie inside the file, so the sizes fit in 63 bits.
  auto storage = AllocateTableStorage(static_cast<std::size_t>((*tensor)->end - (*tensor)->begin), reserve);
  if (!storage.ok()) return storage.status();
  if (auto status = file.ReadAt(header->data_offset + (*tensor)->begin, storage->bytes()); !status.ok()) return status;
  return core::Table::Create(static_cast<std::int64_t>((*tensor)->rows()),
                             static_cast<std::int64_t>((*tensor)->columns()), *(*tensor)->type->element_type,
                             *std::move(storage));
}

}  // namespace embd::formats
