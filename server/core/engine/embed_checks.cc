#include "server/core/engine/embed_checks.h"

#include <bit>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"
#include "server/core/tensor/checked_math.h"
#include "server/core/tensor/first_outside.h"

namespace embd::core {
namespace {

using Values = std::vector<std::int64_t>;

absl::Status InvalidShape(absl::string_view message) { return InvalidArgument("INVALID_SHAPE", message); }

absl::Status TooLarge(absl::string_view reason, absl::string_view message) {
  return Error(absl::StatusCode::kResourceExhausted, reason, message);
}

std::string OfModel(const Model& model) { return absl::StrCat(" of model ", Quote(model.name())); }

absl::Status CheckIdsCount(const EmbedInput& input, const BatchShape& shape) {
  const bool needs_ids = !input.inputs_embeds.has_value() && input.part != Part::kPosition;
  if (input.ids.empty() && !needs_ids) return absl::OkStatus();
  if (static_cast<std::int64_t>(input.ids.size()) == shape.cells()) return absl::OkStatus();
  if (shape.is_ragged()) {
    return InvalidShape(absl::StrCat(shape.Describe(), ", but ", input.ids_name, " has ", input.ids.size(), " values"));
  }
  return InvalidShape(absl::StrCat(input.ids_name, " has ", input.ids.size(), " values, but ", shape.Describe(),
                                   " asks for ", shape.cells()));
}

// One value a cell, or none.
absl::Status CheckCellCount(absl::string_view name, const Values& values, const BatchShape& shape) {
  if (values.empty() || static_cast<std::int64_t>(values.size()) == shape.cells()) return absl::OkStatus();
  return InvalidShape(
      absl::StrCat(name, " has ", values.size(), " values; allowed are none or ",
                   shape.is_ragged() ? "the sum of row_lengths = " : "batch_size x sequence_length = ", shape.cells()));
}

absl::Status CheckPositionCounts(const EmbedInput& input, const BatchShape& shape) {
  const auto offsets = static_cast<std::int64_t>(input.position_offsets.size());
  if (offsets > 1 && offsets != shape.batch_size()) {
    return InvalidShape(absl::StrCat("position_offsets has ", offsets,
                                     " values; allowed are none, 1 or batch_size = ", shape.batch_size()));
  }
  if (shape.is_ragged()) return CheckCellCount("position_ids", input.position_ids, shape);
  const auto ids = static_cast<std::int64_t>(input.position_ids.size());
  if (ids == 0 || ids == shape.sequence_length() || ids == shape.cells()) return absl::OkStatus();
  return InvalidShape(absl::StrCat("position_ids has ", ids, " values; allowed are none, sequence_length = ",
                                   shape.sequence_length(), " or batch_size x sequence_length = ", shape.cells()));
}

absl::Status CheckVectors(const Model& model, const GivenVectors& given, const BatchShape& shape) {
  const auto describe = [](const Values& extents) { return absl::StrCat("(", absl::StrJoin(extents, ", "), ")"); };
  const std::int64_t dim = model.embedding_dim();
  const Values rectangular = {shape.batch_size(), shape.sequence_length(), dim};
  const Values one_by_one = {shape.cells(), dim};
  const Values& expected = shape.is_ragged() ? one_by_one : rectangular;
  if (given.shape != expected) {
    return InvalidShape(absl::StrCat("inputs_embeds has shape ", describe(given.shape), ", expected ",
                                     describe(expected), ": ", shape.Describe(), ", embedding_dim ", dim,
                                     OfModel(model)));
  }
  const auto bytes = CheckedProduct({shape.cells(), dim, static_cast<std::int64_t>(ElementSize(given.type))});
  if (bytes == static_cast<std::int64_t>(given.data.size())) return absl::OkStatus();
  return InvalidShape(absl::StrCat("inputs_embeds has ", given.data.size(), " bytes, but ", describe(given.shape), " ",
                                   ElementTypeName(given.type), " needs ",
                                   bytes.has_value() ? absl::StrCat(*bytes) : std::string("more than 2^63 - 1")));
}

absl::Status CheckReplySize(const Values& extents, std::optional<std::int64_t> bytes, const EmbedInput& input,
                            const EmbedLimits& limits) {
  if (bytes.has_value() && *bytes <= limits.max_response_bytes) return absl::OkStatus();
  return TooLarge(
      "RESPONSE_TOO_LARGE",
      absl::StrCat("the (", absl::StrJoin(extents, ", "), ") ", ElementTypeName(input.output_type),
                   input.unique ? " reply and its index need " : " reply needs ",
                   bytes.has_value() ? absl::StrCat(*bytes) : "more than 2^63 - 1",
                   " bytes, which exceeds max_response_bytes ", limits.max_response_bytes,
                   " of this server; ask for fewer rows a call", input.unique ? "" : ", or by EmbedChunks"));
}

// What the values of a packed field need on the wire; negative ones ten bytes.
std::int64_t WireBytes(const Values& values) {
  std::int64_t bytes = 0;
  for (const std::int64_t value : values) {
    bytes += static_cast<std::int64_t>((std::bit_width(static_cast<std::uint64_t>(value) | 1) + 6) / 7);
  }
  return bytes;
}

}  // namespace

absl::Status CheckModelCan(const Model& model, const EmbedInput& input) {
  if (input.unique && input.part != Part::kToken) {
    return InvalidArgument("INVALID_OPTION", "unique needs part TOKEN: only token rows are the same for equal ids");
  }
  if (input.unique && input.inputs_embeds.has_value()) {
    return InvalidArgument("INVALID_OPTION", "unique and inputs_embeds exclude each other");
  }
  if (input.part == Part::kPosition && model.position() == nullptr) {
    return Error(absl::StatusCode::kFailedPrecondition, "NO_POSITION_TABLE",
                 absl::StrCat("model ", Quote(model.name()), " has no position table; its position encoding is ",
                              PositionEncodingName(model.position_encoding())));
  }
  if (!input.token_type_ids.empty() && model.token_type_table() == nullptr) {
    return Error(absl::StatusCode::kFailedPrecondition, "NO_TOKEN_TYPES",
                 absl::StrCat("model ", Quote(model.name()), " adds no token types; send no token_type_ids"));
  }
  return absl::OkStatus();
}

absl::Status CheckCounts(const Model& model, const EmbedInput& input, const BatchShape& shape) {
  if (absl::Status status = CheckIdsCount(input, shape); !status.ok()) return status;
  if (absl::Status status = CheckPositionCounts(input, shape); !status.ok()) return status;
  if (absl::Status status = CheckCellCount("token_type_ids", input.token_type_ids, shape); !status.ok()) return status;
  if (absl::Status status = CheckCellCount("attention_mask", input.attention_mask, shape); !status.ok()) return status;
  return input.inputs_embeds.has_value() ? CheckVectors(model, *input.inputs_embeds, shape) : absl::OkStatus();
}

absl::Status CheckLimits(const Model& model, const EmbedInput& input, const BatchShape& shape,
                         const EmbedLimits& limits) {
  if (shape.batch_size() > limits.max_batch_size) {
    return TooLarge("REQUEST_TOO_LARGE", absl::StrCat("batch_size ", shape.batch_size(), " exceeds max_batch_size ",
                                                      limits.max_batch_size, " of this server; split the batch"));
  }
  if (shape.sequence_length() > limits.max_sequence_length) {
    return TooLarge("REQUEST_TOO_LARGE",
                    absl::StrCat("sequence_length ", shape.sequence_length(), " exceeds max_sequence_length ",
                                 limits.max_sequence_length, " of this server; split the sequence"));
  }
  if (input.unique) return absl::OkStatus();
  const Values extents = shape.OutputShape(model.embedding_dim());
  const auto element = static_cast<std::int64_t>(ElementSize(input.output_type));
  const auto bytes =
      shape.is_packed() ? CheckedProduct({shape.cells(), model.embedding_dim(), element})
                        : CheckedProduct({shape.batch_size(), shape.sequence_length(), model.embedding_dim(), element});
  return CheckReplySize(extents, bytes, input, limits);
}

absl::Status CheckDistinct(const Model& model, const EmbedInput& input, const DistinctIds& distinct,
                           const EmbedLimits& limits) {
  const Values extents = {static_cast<std::int64_t>(distinct.ids.size()), model.embedding_dim()};
  auto bytes = CheckedProduct({extents[0], extents[1], static_cast<std::int64_t>(ElementSize(input.output_type))});
  const std::int64_t index = WireBytes(distinct.ids) + WireBytes(distinct.inverse);
  if (bytes.has_value()) *bytes = *bytes > std::numeric_limits<std::int64_t>::max() - index ? *bytes : *bytes + index;
  return CheckReplySize(extents, bytes, input, limits);
}

absl::Status CheckValues(const Model& model, const EmbedInput& input, const BatchShape& shape) {
  if (const std::size_t i = FirstOutside(input.attention_mask, 2); i < input.attention_mask.size()) {
    return InvalidArgument("INVALID_OPTION",
                           absl::StrCat(shape.CellName("attention_mask", static_cast<std::int64_t>(i)), " = ",
                                        input.attention_mask[i], " must be 0 or 1"));
  }
  if (!input.token_type_ids.empty()) {
    const std::int64_t types = model.token_type_table()->rows();
    const std::size_t i = FirstOutside(input.token_type_ids, static_cast<std::uint64_t>(types));
    if (i < input.token_type_ids.size()) {
      return InvalidArgument("TOKEN_TYPE_OUT_OF_RANGE",
                             absl::StrCat(shape.CellName("token_type_ids", static_cast<std::int64_t>(i)), " = ",
                                          input.token_type_ids[i], " is outside [0, ", types, ")", OfModel(model)));
    }
  }
  if (model.out_of_range() != OutOfRangePolicy::kError) return absl::OkStatus();
  const std::size_t i = FirstOutside(input.ids, static_cast<std::uint64_t>(model.vocab_size()));
  if (i == input.ids.size()) return absl::OkStatus();
  return InvalidArgument("ID_OUT_OF_RANGE",
                         absl::StrCat(shape.CellName(input.ids_name, static_cast<std::int64_t>(i)), " = ", input.ids[i],
                                      " is outside [0, ", model.vocab_size(), ")", OfModel(model)));
}

}  // namespace embd::core
