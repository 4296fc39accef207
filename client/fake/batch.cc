#include "client/fake/batch.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/fake/lookup.h"
#include "client/fake/product.h"
#include "client/fake/refusal.h"

namespace embd::client::fake {
namespace {

using Values = std::vector<std::int64_t>;

absl::Status InvalidShape(absl::string_view message) { return Invalid("INVALID_SHAPE", message); }

absl::StatusOr<Batch> ReadRaggedBatch(const EmbedRequest& request) {
  Batch batch = {.rows = static_cast<std::int64_t>(request.row_lengths.size()),
                 .tokens = request.sequence_length,
                 .ragged = true,
                 .packed = request.ragged_layout == RaggedLayout::kPacked,
                 .padded_left = request.padding_side == PaddingSide::kLeft,
                 .row_lengths = request.row_lengths};
  if (request.batch_size != 0 && request.batch_size != batch.rows) {
    return InvalidShape(
        absl::StrCat("batch_size is ", request.batch_size, ", but row_lengths has ", batch.rows, " values"));
  }
  for (std::size_t i = 0; i < request.row_lengths.size(); ++i) {
    const std::int64_t length = request.row_lengths[i];
    if (length < 0) return InvalidShape(absl::StrCat("row_lengths[", i, "] = ", length, " must be >= 0"));
    if (request.sequence_length != 0 && length > request.sequence_length) {
      return InvalidShape(
          absl::StrCat("row_lengths[", i, "] = ", length, " exceeds sequence_length ", request.sequence_length));
    }
    if (__builtin_add_overflow(batch.cells, length, &batch.cells)) {
      return InvalidShape("the sum of row_lengths exceeds 2^63 - 1");
    }
    batch.tokens = std::max(batch.tokens, length);
  }
  if (batch.tokens < 0 || request.sequence_length < 0) {
    return InvalidShape(absl::StrCat("sequence_length must be >= 0, got ", request.sequence_length));
  }
  return batch;
}

// What the field says, or else the extent of inputs_embeds, which must be the same where there is one.
absl::StatusOr<std::int64_t> Extent(absl::string_view name, std::int64_t field, const EmbedRequest& request,
                                    std::size_t axis) {
  if (!request.inputs_embeds.has_value()) return field;
  const Values& shape = request.inputs_embeds->shape;
  if (shape.size() != 3) {
    return InvalidShape(absl::StrCat("inputs_embeds has ", shape.size(), " extents; allowed are (B, T, D)"));
  }
  if (field == 0 || field == shape[axis]) return shape[axis];
  return InvalidShape(absl::StrCat(name, " is ", field, ", but inputs_embeds has extent ", shape[axis], " there"));
}

absl::StatusOr<Batch> ReadEvenBatch(const EmbedRequest& request) {
  const auto rows = Extent("batch_size", request.batch_size, request, 0);
  if (!rows.ok()) return rows.status();
  const auto tokens = Extent("sequence_length", request.sequence_length, request, 1);
  if (!tokens.ok()) return tokens.status();
  if (*rows < 0) return InvalidShape(absl::StrCat("batch_size must be >= 0, got ", *rows));
  if (*tokens < 1) return InvalidShape(absl::StrCat("sequence_length must be >= 1, got ", *tokens));
  const auto cells = Product({*rows, *tokens});
  if (!cells.has_value()) {
    return InvalidShape(absl::StrCat("batch_size ", *rows, " x sequence_length ", *tokens, " exceeds 2^63 - 1"));
  }
  return Batch{.rows = *rows, .tokens = *tokens, .cells = *cells};
}

absl::Status CheckCount(absl::string_view name, const Values& values, const Batch& batch) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (count == batch.cells) return absl::OkStatus();
  if (batch.ragged) {
    return InvalidShape(absl::StrCat("row_lengths has ", batch.rows, " values summing to ", batch.cells, ", but ", name,
                                     " has ", count, " values"));
  }
  return InvalidShape(absl::StrCat(name, " has ", count, " values, but batch_size ", batch.rows, " x sequence_length ",
                                   batch.tokens, " asks for ", batch.cells));
}

absl::Status CheckPositionCounts(const EmbedRequest& request, const Batch& batch) {
  const auto offsets = static_cast<std::int64_t>(request.position_offsets.size());
  if (offsets > 1 && offsets != batch.rows) {
    return InvalidShape(
        absl::StrCat("position_offsets has ", offsets, " values; allowed are none, 1 or batch_size = ", batch.rows));
  }
  const auto ids = static_cast<std::int64_t>(request.position_ids.size());
  if (ids == 0 || ids == batch.cells || (!batch.ragged && ids == batch.tokens)) return absl::OkStatus();
  return InvalidShape(absl::StrCat("position_ids has ", ids, " values; allowed are none, ",
                                   batch.ragged ? "" : "sequence_length or ", "one a cell = ", batch.cells));
}

absl::Status CheckEmbeds(const FakeModel& model, const InputTensor& tensor, const Batch& batch) {
  const bool is_float = tensor.data_type >= DataType::kFloat32 && tensor.data_type <= DataType::kFloat64;
  if (!is_float) {
    return Invalid("INVALID_OPTION", absl::StrCat("inputs_embeds are ", DataTypeName(tensor.data_type),
                                                  "; allowed are FLOAT32, FLOAT16, BFLOAT16, FLOAT64"));
  }
  const Values expected =
      batch.ragged ? Values{batch.cells, model.embedding_dim} : Values{batch.rows, batch.tokens, model.embedding_dim};
  if (tensor.shape != expected) {
    return InvalidShape(absl::StrCat("inputs_embeds has not the shape ", batch.ragged ? "(sum of row_lengths" : "(B, T",
                                     ", ", model.embedding_dim, ") of model \"", model.name, "\""));
  }
  const auto bytes = Product({batch.cells, model.embedding_dim, DataTypeSize(tensor.data_type)});
  if (bytes.has_value() && static_cast<std::int64_t>(tensor.bytes.size()) == *bytes) return absl::OkStatus();
  return InvalidShape(absl::StrCat("inputs_embeds has ", tensor.bytes.size(), " bytes, which do not fit its shape"));
}

}  // namespace

std::vector<std::int64_t> Batch::ReplyShape(std::int64_t dim) const {
  if (packed) return {cells, dim};
  return {rows, tokens, dim};
}

bool WithToken(const EmbedRequest& request) { return request.part != Part::kPosition; }

bool WithPosition(const FakeModel& model, const EmbedRequest& request) {
  return request.part != Part::kToken && PositionRows(model) > 0;
}

absl::StatusOr<Batch> ReadBatch(const FakeModel& model, const EmbedRequest& request) {
  absl::StatusOr<Batch> batch = request.row_lengths.empty() ? ReadEvenBatch(request) : ReadRaggedBatch(request);
  if (!batch.ok()) return batch;
  const bool needs_ids = WithToken(request) && !request.inputs_embeds.has_value();
  if (needs_ids || !request.ids.empty()) {
    if (absl::Status status = CheckCount("ids", request.ids, *batch); !status.ok()) return status;
  }
  if (absl::Status status = CheckPositionCounts(request, *batch); !status.ok()) return status;
  if (request.inputs_embeds.has_value()) {
    if (absl::Status status = CheckEmbeds(model, *request.inputs_embeds, *batch); !status.ok()) return status;
  }
  for (const auto& [name, values] :
       {std::pair<absl::string_view, const Values&>("token_type_ids", request.token_type_ids),
        {"attention_mask", request.attention_mask}}) {
    if (values.empty()) continue;
    if (absl::Status status = CheckCount(name, values, *batch); !status.ok()) return status;
  }
  return batch;
}

}  // namespace embd::client::fake
