#include "proto/wire/chunk_reply.h"

#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/wire/data_type.h"

namespace embd::wire {
namespace {

// The product of the extents, where it fits and none is negative.
std::optional<std::int64_t> Product(std::span<const std::int64_t> extents) {
  std::int64_t product = 1;
  bool empty = false;
  for (const std::int64_t extent : extents) {
    if (extent < 0) return std::nullopt;
    empty = empty || extent == 0;
    if (!empty && __builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  }
  return empty ? 0 : product;
}

absl::Status CheckHeader(const v1::EmbedChunksHeader& header) {
  const auto extents = std::span(header.shape().data(), static_cast<std::size_t>(header.shape_size()));
  const std::int64_t element = DataTypeSize(header.data_type());
  if (element != 0 && !extents.empty()) {
    const auto rows = Product(extents.first(extents.size() - 1));
    const auto elements = Product(extents);
    std::int64_t bytes = 0;
    if (rows == header.total_rows() && elements.has_value() && !__builtin_mul_overflow(*elements, element, &bytes) &&
        bytes == header.total_bytes()) {
      return absl::OkStatus();
    }
  }
  return Senseless(absl::StrCat(header.total_rows(), " rows of ", header.total_bytes(), " bytes in all are no ",
                                DataTypeName(header.data_type()), " tensor of shape (", absl::StrJoin(extents, ", "),
                                ")"));
}

}  // namespace

absl::StatusOr<ChunkReply> ReadChunkReply(grpc::ByteBuffer* bytes) {
  std::array<Level, 1> levels = {Level{.field = v1::EmbedChunksResponse::kDataFieldNumber}};
  ChunkReply reply;
  if (absl::Status status = ScanAll(bytes, levels, &reply.payload); !status.ok()) return status;
  if (!reply.message.ParseFromString(levels[0].others)) return Senseless("its fields cannot be read");
  if (reply.message.first_row() < 0 || reply.message.row_count() < 0) {
    return Senseless(
        absl::StrCat("a block of ", reply.message.row_count(), " rows from row ", reply.message.first_row(), " on"));
  }
  if (reply.message.has_header()) {
    if (absl::Status status = CheckHeader(reply.message.header()); !status.ok()) return status;
  }
  return reply;
}

}  // namespace embd::wire
