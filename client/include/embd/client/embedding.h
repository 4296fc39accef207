#ifndef EMBD_CLIENT_EMBEDDING_H_
#define EMBD_CLIENT_EMBEDDING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "embd/client/enums.h"
#include "embd/client/input_tensor.h"

namespace embd::client {

/// A place in a registered region of shared memory; see shared_region.h.
struct SharedMemoryTarget {
  /// The region's name.
  std::string region = {};
  /// Where in the region, in bytes: a multiple of 64.
  std::int64_t offset = 0;
  /// The bytes from there on that may be written, or that were written.
  std::int64_t byte_size = 0;

  friend bool operator==(const SharedMemoryTarget&, const SharedMemoryTarget&) = default;
};

/// One (B, T) batch: B = batch_size, T = sequence_length. The server checks it; nothing is checked here.
///
/// A ragged batch has row_lengths; all that has a value a cell then holds the rows one after the other, without
/// padding.
struct EmbedRequest {
  /// Name of a served model. Required.
  std::string model = {};
  /// The ids in row-major order: cell (b, t) is ids[b * T + t]. Empty with inputs_embeds; Part::kPosition needs none.
  std::vector<std::int64_t> ids = {};
  /// B and T. Both are needed, unless row_lengths or the shape of inputs_embeds says them. With row_lengths T may be
  /// more than the longest row, for a padded reply that long.
  std::int64_t batch_size = 0;
  std::int64_t sequence_length = 0;
  /// What is returned.
  Part part = Part::kComposed;
  /// The element type of the reply: kFloat32, kFloat16 or kBfloat16.
  DataType output_type = DataType::kFloat32;
  /// First position of the rows: none (all 0), one for all rows, or B. Excludes position_ids.
  std::vector<std::int64_t> position_offsets = {};
  /// Explicit positions: T (the same for every row), or one a cell. Excludes position_offsets; goes before
  /// attention_mask.
  std::vector<std::int64_t> position_ids = {};
  /// The version that must answer; empty: the one that is served.
  std::string model_version = {};
  /// One token type a cell, or none: then type 0 is added where the model has types, unless it adds them only when
  /// sent.
  std::vector<std::int64_t> token_type_ids = {};
  /// Lengths of ragged rows, each at least 0.
  std::vector<std::int64_t> row_lengths = {};
  /// 0 or 1 a cell, or none. Sets positions as the model's PositionNumbering says.
  std::vector<std::int64_t> attention_mask = {};
  /// Layout and padding side of a ragged reply; unset unless there are row_lengths.
  RaggedLayout ragged_layout = RaggedLayout::kUnspecified;
  PaddingSide padding_side = PaddingSide::kUnspecified;
  /// Vectors in place of scaled token rows, in a float type: (B, T, D), or (sum of row_lengths, D).
  std::optional<InputTensor> inputs_embeds = {};
  /// Refuse with FAILED_PRECONDITION [TABLES_CHANGED] if the model's tables have another checksum; empty: any will do.
  std::string if_checksum = {};
  /// The rows of the distinct ids only, for Part::kToken. Excludes inputs_embeds.
  bool unique = false;
  /// Where the server writes the elements in place of a reply. The tensor that is handed out then has type and shape,
  /// but no elements. On a refused request nothing is written; see Client::EmbedToRegion.
  std::optional<SharedMemoryTarget> output_target = {};
};

/// What a reply says besides the elements.
struct EmbedInfo {
  /// The model that answered, its version, and how often it has been loaded (1 at first).
  std::string model = {};
  std::string model_version = {};
  std::int64_t generation = 0;
  /// SHA-256 (hex) over the model's tables, and its settings that are not the defaults: equal ones mean equal results.
  std::string checksum = {};
  /// What the caller should know although the call succeeded.
  std::vector<std::string> warnings = {};
  /// The type of the elements, and the extents: (B, T, D); (sum of row_lengths, D) for RaggedLayout::kPacked; (U, D)
  /// for `unique`.
  DataType data_type = DataType::kUnspecified;
  std::vector<std::int64_t> shape = {};
  /// Lengths of ragged rows, as in the request; empty otherwise.
  std::vector<std::int64_t> row_lengths = {};
  /// Of a `unique` request: the U distinct ids, as sent, in the order of their first cells, and for each cell the index
  /// of its id among them. Empty otherwise.
  std::vector<std::int64_t> unique_ids = {};
  std::vector<std::int64_t> inverse = {};
  /// Where the elements stand, exactly, for a request with output_target; unset otherwise.
  std::optional<SharedMemoryTarget> written = {};
};

/// A (B, T, D) tensor, or a packed ragged (N, D) one, in memory of its own: row-major, little-endian, without padding
/// between elements.
///
/// Ownership: owns its elements; movable, not copyable (tensors can be large). A moved-from one may only be assigned to
/// or destroyed. Thread safety: thread-compatible.
class Embedding {
 public:
  /// Without elements.
  Embedding() = default;

  /// Takes over `data`, which holds `byte_size` bytes. Meant for transports.
  Embedding(EmbedInfo info, std::unique_ptr<std::byte[]> data, std::size_t byte_size)
      : info_(std::move(info)), data_(std::move(data)), byte_size_(byte_size) {}

  Embedding(Embedding&&) = default;
  Embedding& operator=(Embedding&&) = default;

  [[nodiscard]] const EmbedInfo& info() const { return info_; }
  [[nodiscard]] DataType data_type() const { return info_.data_type; }
  [[nodiscard]] const std::vector<std::int64_t>& shape() const { return info_.shape; }

  /// The elements, as received; aligned for any element type. Valid as long as this object holds them.
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_.get(), byte_size_}; }

  /// The elements as T, without a copy: `float` for FLOAT32, `std::uint16_t` for the bits of FLOAT16 and BFLOAT16.
  ///
  /// Errors:
  ///   FAILED_PRECONDITION  the elements have another type; the message names it.
  template <typename T>
  [[nodiscard]] absl::StatusOr<std::span<const T>> As() const;

 private:
  EmbedInfo info_;
  std::unique_ptr<std::byte[]> data_;
  std::size_t byte_size_ = 0;
};

template <>
absl::StatusOr<std::span<const float>> Embedding::As<float>() const;
template <>
absl::StatusOr<std::span<const std::uint16_t>> Embedding::As<std::uint16_t>() const;

/// One answer of a stream.
struct StreamItem {
  /// As it was sent along with the request.
  std::string request_id = {};
  /// The number of the request in its stream, from 0.
  std::int64_t index = 0;
  /// The tensor, or why this request was refused; the stream goes on after a refusal.
  absl::StatusOr<Embedding> result = Embedding();
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_EMBEDDING_H_
