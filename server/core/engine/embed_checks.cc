#include "server/core/engine/embed_checks.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/tensor/checked_math.h"

namespace embd::core {
namespace {

using Values = std::vector<std::int64_t>;

constexpr std::uint64_t kAnyPosition = std::uint64_t{1} << 63;  // what no value >= 0 reaches

absl::Status TooLarge(absl::string_view reason, absl::string_view message) {
  return Error(absl::StatusCode::kResourceExhausted, reason, message);
}

absl::Status CheckShape(const EmbedInput& input) {
  if (input.batch_size < 0) {
    return InvalidArgument("INVALID_SHAPE", absl::StrCat("batch_size must be >= 0, got ", input.batch_size));
  }
  if (input.sequence_length < 1) {
    return InvalidArgument("INVALID_SHAPE", absl::StrCat("sequence_length must be >= 1, got ", input.sequence_length));
  }
  const auto cells = CheckedProduct({input.batch_size, input.sequence_length});
  const bool needs_ids = input.part != Part::kPosition || !input.ids.empty();
  if (!cells.has_value() || (needs_ids && static_cast<std::int64_t>(input.ids.size()) != *cells)) {
    return InvalidArgument("INVALID_SHAPE",
                           absl::StrCat("ids has ", input.ids.size(), " values, but batch_size ", input.batch_size,
                                        " x sequence_length ", input.sequence_length, " asks for ",
                                        cells.has_value() ? absl::StrCat(*cells) : std::string("more than 2^63 - 1")));
  }
  return absl::OkStatus();
}

absl::Status CheckLimits(const Model& model, const EmbedInput& input, const EmbedLimits& limits) {
  if (input.batch_size > limits.max_batch_size) {
    return TooLarge("REQUEST_TOO_LARGE", absl::StrCat("batch_size ", input.batch_size, " exceeds max_batch_size ",
                                                      limits.max_batch_size, " of this server; split the batch"));
  }
  if (input.sequence_length > limits.max_sequence_length) {
    return TooLarge("REQUEST_TOO_LARGE",
                    absl::StrCat("sequence_length ", input.sequence_length, " exceeds max_sequence_length ",
                                 limits.max_sequence_length, " of this server; split the sequence"));
  }
  const auto bytes = CheckedProduct({input.batch_size, input.sequence_length, model.embedding_dim(),
                                     static_cast<std::int64_t>(ElementSize(input.output_type))});
  if (!bytes.has_value() || *bytes > limits.max_response_bytes) {
    return TooLarge("RESPONSE_TOO_LARGE",
                    absl::StrCat("the (", input.batch_size, ", ", input.sequence_length, ", ", model.embedding_dim(),
                                 ") ", ElementTypeName(input.output_type), " reply needs ",
                                 bytes.has_value() ? absl::StrCat(*bytes) : std::string("more than 2^63 - 1"),
                                 " bytes, which exceeds max_response_bytes ", limits.max_response_bytes,
                                 " of this server; ask for fewer rows a call"));
  }
  return absl::OkStatus();
}

// The rows that positions may name, or nothing where the part does not look at them.
std::optional<std::int64_t> PositionRows(const Model& model, Part part) {
  if (part == Part::kToken || model.position() == nullptr) return std::nullopt;
  return model.position()->table.rows();
}

absl::Status CheckOffsets(const Model& model, const EmbedInput& input) {
  const Values& offsets = input.position_offsets;
  const auto count = static_cast<std::int64_t>(offsets.size());
  if (count > 1 && count != input.batch_size) {
    return InvalidArgument("INVALID_SHAPE",
                           absl::StrCat("position_offsets has ", count,
                                        " values; allowed are none, 1 or batch_size = ", input.batch_size));
  }
  const auto rows = PositionRows(model, input.part);
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    if (offsets[b] < 0) {
      return InvalidArgument("POSITION_OUT_OF_RANGE",
                             absl::StrCat("position_offsets[", b, "] = ", offsets[b], " must be >= 0"));
    }
    if (rows.has_value() && offsets[b] > *rows - input.sequence_length) {
      return InvalidArgument(
          "POSITION_OUT_OF_RANGE",
          absl::StrCat("position_offsets[", b, "] = ", offsets[b], " with sequence_length ", input.sequence_length,
                       " exceeds max_context_length ", *rows, " of model ", Quote(model.name())));
    }
  }
  return absl::OkStatus();
}

// "name[b][t]" for B * T values, "name[t]" for T.
std::string Cell(absl::string_view name, std::size_t index, const EmbedInput& input, bool per_row) {
  const auto tokens = static_cast<std::size_t>(input.sequence_length);
  return per_row ? absl::StrCat(name, "[", index / tokens, "][", index % tokens, "]")
                 : absl::StrCat(name, "[", index, "]");
}

// The index of the first value outside [0, end), or values.size(). Asks about all of them first, without a branch, so
// that good values, which is nearly all, are checked with vector instructions.
std::size_t FirstOutside(const Values& values, std::uint64_t end) {
  bool bad = false;
  for (const std::int64_t value : values) bad |= static_cast<std::uint64_t>(value) >= end;
  if (!bad) return values.size();
  std::size_t i = 0;
  while (static_cast<std::uint64_t>(values[i]) < end) ++i;
  return i;
}

absl::Status CheckPositionIds(const Model& model, const EmbedInput& input) {
  const Values& positions = input.position_ids;
  if (!input.position_offsets.empty()) {
    return InvalidArgument("INVALID_OPTION", "position_ids and position_offsets exclude each other");
  }
  const auto count = static_cast<std::int64_t>(positions.size());
  const std::int64_t cells = input.batch_size * input.sequence_length;
  if (count != input.sequence_length && count != cells) {
    return InvalidArgument("INVALID_SHAPE",
                           absl::StrCat("position_ids has ", count, " values; allowed are none, sequence_length = ",
                                        input.sequence_length, " or batch_size x sequence_length = ", cells));
  }
  const auto rows = PositionRows(model, input.part);
  const std::size_t i = FirstOutside(positions, rows.has_value() ? static_cast<std::uint64_t>(*rows) : kAnyPosition);
  if (i == positions.size()) return absl::OkStatus();
  const std::string cell = Cell("position_ids", i, input, count == cells);
  if (!rows.has_value()) {
    return InvalidArgument("POSITION_OUT_OF_RANGE", absl::StrCat(cell, " = ", positions[i], " must be >= 0"));
  }
  return InvalidArgument("POSITION_OUT_OF_RANGE", absl::StrCat(cell, " = ", positions[i], " is outside [0, ", *rows,
                                                               ") of model ", Quote(model.name())));
}

absl::Status CheckPositions(const Model& model, const EmbedInput& input) {
  if (!input.position_ids.empty()) return CheckPositionIds(model, input);
  const auto rows = PositionRows(model, input.part);
  if (rows.has_value() && input.sequence_length > *rows) {
    return InvalidArgument("SEQUENCE_TOO_LONG",
                           absl::StrCat("sequence_length ", input.sequence_length, " exceeds max_context_length ",
                                        *rows, " of model ", Quote(model.name())));
  }
  return CheckOffsets(model, input);
}

absl::Status CheckIds(const Model& model, const EmbedInput& input) {
  const std::size_t i = FirstOutside(input.ids, static_cast<std::uint64_t>(model.vocab_size()));
  if (i == input.ids.size()) return absl::OkStatus();
  return InvalidArgument("ID_OUT_OF_RANGE",
                         absl::StrCat(Cell("ids", i, input, true), " = ", input.ids[i], " is outside [0, ",
                                      model.vocab_size(), ") of model ", Quote(model.name())));
}

}  // namespace

absl::Status CheckEmbedInput(const Model& model, const EmbedInput& input, const EmbedLimits& limits) {
  if (input.part == Part::kPosition && model.position() == nullptr) {
    return Error(absl::StatusCode::kFailedPrecondition, "NO_POSITION_TABLE",
                 absl::StrCat("model ", Quote(model.name()), " has no position table; its position encoding is ",
                              PositionEncodingName(model.position_encoding())));
  }
  if (absl::Status status = CheckShape(input); !status.ok()) return status;
  if (absl::Status status = CheckLimits(model, input, limits); !status.ok()) return status;
  if (absl::Status status = CheckPositions(model, input); !status.ok()) return status;
  return CheckIds(model, input);
}

}  // namespace embd::core
