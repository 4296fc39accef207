#include "client/fake/embed_checks.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/fake/lookup.h"
#include "client/fake/positions.h"
#include "client/fake/product.h"
#include "client/fake/refusal.h"

namespace embd::client::fake {
namespace {

absl::Status TooLarge(absl::string_view reason, absl::string_view message) {
  return ErrorWithReason(absl::StatusCode::kResourceExhausted, reason, message);
}

template <typename Enum>
absl::Status CheckEnum(absl::string_view name, Enum value, Enum last) {
  if (value >= Enum::kUnspecified && value <= last) return absl::OkStatus();
  return Invalid("UNKNOWN_ENUM_VALUE", absl::StrCat(name, " ", static_cast<int>(value), " is unknown"));
}

absl::Status CheckEnums(const EmbedRequest& request) {
  if (absl::Status status = CheckEnum("part", request.part, Part::kPosition); !status.ok()) return status;
  if (absl::Status status = CheckEnum("output_type", request.output_type, DataType::kUint32); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckEnum("ragged_layout", request.ragged_layout, RaggedLayout::kPacked); !status.ok()) {
    return status;
  }
  return CheckEnum("padding_side", request.padding_side, PaddingSide::kLeft);
}

absl::Status CheckRaggedOptions(const EmbedRequest& request) {
  const bool packed = request.ragged_layout == RaggedLayout::kPacked;
  const bool left = request.padding_side == PaddingSide::kLeft;
  if (packed && left) {
    return Invalid("INVALID_OPTION", "padding_side LEFT does not go with ragged_layout PACKED");
  }
  if (!request.row_lengths.empty() || !(packed || left)) return absl::OkStatus();
  return Invalid("INVALID_OPTION",
                 absl::StrCat(packed ? "ragged_layout PACKED" : "padding_side LEFT", " needs row_lengths"));
}

absl::Status CheckOptions(const FakeModel& model, const EmbedRequest& request) {
  if (absl::Status status = CheckEnums(request); !status.ok()) return status;
  if (request.output_type > DataType::kBfloat16) {
    return Invalid("INVALID_OPTION", absl::StrCat(DataTypeName(request.output_type), " is no output type"));
  }
  if (!request.ids.empty() && request.inputs_embeds.has_value()) {
    return Invalid("INVALID_OPTION", "ids and inputs_embeds exclude each other");
  }
  if (absl::Status status = CheckRaggedOptions(request); !status.ok()) return status;
  if (request.unique && request.part != Part::kToken) return Invalid("INVALID_OPTION", "unique needs part TOKEN");
  if (request.unique && request.inputs_embeds.has_value()) {
    return Invalid("INVALID_OPTION", "unique and inputs_embeds exclude each other");
  }
  if (!request.token_type_ids.empty() && TypeRows(model) == 0) {
    return ErrorWithReason(absl::StatusCode::kFailedPrecondition, "NO_TOKEN_TYPES",
                           absl::StrCat("model \"", model.name, "\" adds no token types"));
  }
  if (request.part == Part::kPosition && PositionRows(model) == 0) {
    return ErrorWithReason(absl::StatusCode::kFailedPrecondition, "NO_POSITION_TABLE",
                           absl::StrCat("model \"", model.name, "\" has no position table"));
  }
  return absl::OkStatus();
}

bool Exceeds(std::int64_t value, std::int64_t limit) { return limit > 0 && value > limit; }

std::int64_t ElementBytes(const EmbedRequest& request) {
  return DataTypeSize(request.output_type == DataType::kUnspecified ? DataType::kFloat32 : request.output_type);
}

Distinct FindDistinct(const std::vector<std::int64_t>& ids) {
  Distinct distinct;
  std::map<std::int64_t, std::int64_t> numbers;
  for (const std::int64_t id : ids) {
    const auto [found, is_new] = numbers.emplace(id, distinct.size());
    if (is_new) distinct.ids.push_back(id);
    distinct.inverse.push_back(found->second);
  }
  return distinct;
}

absl::Status CheckLimits(const FakeModel& model, const EmbedRequest& request, const Batch& batch,
                         const ServerLimits& limits) {
  if (Exceeds(batch.rows, limits.max_batch_size)) {
    return TooLarge("REQUEST_TOO_LARGE",
                    absl::StrCat("batch_size ", batch.rows, " exceeds max_batch_size ", limits.max_batch_size));
  }
  if (Exceeds(batch.tokens, limits.max_sequence_length)) {
    return TooLarge("REQUEST_TOO_LARGE", absl::StrCat("sequence_length ", batch.tokens, " exceeds max_sequence_length ",
                                                      limits.max_sequence_length));
  }
  if (request.unique) return absl::OkStatus();  // its size is not known yet
  const std::int64_t element_bytes = ElementBytes(request);
  const auto bytes = batch.packed ? Product({batch.cells, model.embedding_dim, element_bytes})
                                  : Product({batch.rows, batch.tokens, model.embedding_dim, element_bytes});
  if (!bytes.has_value() || Exceeds(*bytes, limits.max_response_bytes)) {
    return TooLarge("RESPONSE_TOO_LARGE",
                    absl::StrCat("the reply exceeds max_response_bytes ", limits.max_response_bytes));
  }
  return absl::OkStatus();
}

// "name[b][t] = value"
std::string CellText(absl::string_view name, const std::vector<std::int64_t>& values, std::size_t index,
                     const Batch& batch) {
  std::int64_t row = 0;
  auto column = static_cast<std::int64_t>(index);
  for (; column >= batch.Length(row); ++row) column -= batch.Length(row);
  return absl::StrCat(name, "[", row, "][", column, "] = ", values[index]);
}

// The index of the first value outside [0, end), or values.size().
std::size_t FirstOutside(const std::vector<std::int64_t>& values, std::int64_t end) {
  const auto bad = std::find_if(values.begin(), values.end(), [end](std::int64_t v) { return v < 0 || v >= end; });
  return static_cast<std::size_t>(bad - values.begin());
}

absl::Status CheckRows(absl::string_view reason, absl::string_view name, const std::vector<std::int64_t>& values,
                       std::int64_t end, const FakeModel& model, const Batch& batch) {
  const std::size_t bad = FirstOutside(values, end);
  if (bad == values.size()) return absl::OkStatus();
  return Invalid(reason, absl::StrCat(CellText(name, values, bad, batch), " is outside [0, ", end, ") of model \"",
                                      model.name, "\""));
}

absl::Status CheckCells(const FakeModel& model, const EmbedRequest& request, const Batch& batch) {
  const std::size_t bad = FirstOutside(request.attention_mask, 2);
  if (bad != request.attention_mask.size()) {
    return Invalid("INVALID_OPTION",
                   absl::StrCat(CellText("attention_mask", request.attention_mask, bad, batch), " must be 0 or 1"));
  }
  const absl::Status types =
      CheckRows("TOKEN_TYPE_OUT_OF_RANGE", "token_type_ids", request.token_type_ids, TypeRows(model), model, batch);
  return types.ok() ? CheckRows("ID_OUT_OF_RANGE", "ids", request.ids, VocabSize(model), model, batch) : types;
}

}  // namespace

absl::StatusOr<CheckedRequest> CheckEmbed(const FakeModel& model, const EmbedRequest& request,
                                          const ServerLimits& limits) {
  if (absl::Status status = CheckOptions(model, request); !status.ok()) return status;
  absl::StatusOr<Batch> batch = ReadBatch(model, request);
  if (!batch.ok()) return batch.status();
  if (absl::Status status = CheckLimits(model, request, *batch, limits); !status.ok()) return status;
  absl::StatusOr<std::vector<std::int64_t>> position_rows = PositionRowsOf(model, request, *batch);
  if (!position_rows.ok()) return position_rows.status();
  if (absl::Status status = CheckCells(model, request, *batch); !status.ok()) return status;
  CheckedRequest result = {.batch = *std::move(batch), .position_rows = *std::move(position_rows)};
  if (request.unique) {
    result.distinct = FindDistinct(request.ids);
    const auto bytes = Product({result.distinct.size(), model.embedding_dim, ElementBytes(request)});
    if (!bytes.has_value() || Exceeds(*bytes, limits.max_response_bytes)) {
      return TooLarge("RESPONSE_TOO_LARGE",
                      absl::StrCat("the reply exceeds max_response_bytes ", limits.max_response_bytes));
    }
  }
  if (!request.attention_mask.empty() && !MaskMatters(model, request)) {
    result.warnings.push_back(absl::StrCat("attention_mask has no effect on this part of model \"", model.name, "\""));
  }
  return result;
}

}  // namespace embd::client::fake
