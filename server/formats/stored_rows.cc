#include "server/formats/stored_rows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/table/checksum.h"
#include "server/formats/file_error.h"
#include "server/formats/hashing_read.h"

namespace embd::formats {
namespace {

absl::StatusOr<LoadedRows> MapRows(const FileReader& file, const StoredRows& rows, std::size_t bytes) {
  const std::size_t element_size = core::ElementSize(rows.type);
  if (rows.offset % element_size != 0) {
    return core::InvalidArgument(
        "CANNOT_MAP",
        absl::StrCat("byte ", rows.offset, ": the rows cannot be mapped: they do not begin at a multiple of ",
                     element_size, " bytes, the size of a ", core::ElementTypeName(rows.type),
                     "; load them without mmap"));
  }
  auto region = file.Map(rows.offset, bytes);
  if (!region.ok()) return region.status();
  auto table = core::Table::Create(rows.rows, rows.columns, rows.type, *std::move(region));
  if (!table.ok()) return table.status();
  table->Advise(core::MappedRegion::Access::kSequential);
  core::Sha256 hash;
  core::NanCounter nans(rows.type, rows.columns);
  for (auto left = table->bytes(); !left.empty();) {
    const auto piece = left.first(std::min(kPassingBytes, left.size()));
    hash.Update(piece);
    nans.Add(piece);
    left = left.subspan(piece.size());
  }
  if (table->damaged()) return InvalidFile("the file has become shorter while it was read");
  table->Advise(core::MappedRegion::Access::kRandom);
  return LoadedRows{*std::move(table), hash.Hex(), nans.result()};
}

}  // namespace

LoadedRows LoadedRows::Of(core::Table table) {
  std::string checksum = core::TableChecksum(table);
  const core::NanScan nans = core::ScanNan(table);
  return {std::move(table), std::move(checksum), nans};
}

absl::StatusOr<LoadedRows> LoadStoredRows(const FileReader& file, const StoredRows& rows, const StorageOptions& how) {
  const auto bytes = core::TableBytes(rows.rows, rows.columns, rows.type);
  if (!bytes.ok()) return bytes.status();
  if (how.mmap) return MapRows(file, rows, *bytes);
  auto storage = AllocateTableStorage(*bytes, how.reserve);
  if (!storage.ok()) return storage.status();
  core::NanCounter nans(rows.type, rows.columns);
  auto checksum = ReadAndHash(file, rows.offset, storage->bytes(), nans);
  if (!checksum.ok()) return checksum.status();
  auto table = core::Table::Create(rows.rows, rows.columns, rows.type, *std::move(storage));
  if (!table.ok()) return table.status();
  return LoadedRows{*std::move(table), *std::move(checksum), nans.result()};
}

absl::Status CannotMap(absl::string_view what) {
  return core::InvalidArgument(
      "CANNOT_MAP", absl::StrCat("mmap does not go with ", what, ", which is decoded; load it without mmap"));
}

}  // namespace embd::formats
