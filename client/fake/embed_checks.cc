#include "client/fake/embed_checks.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/fake/lookup.h"
#include "embd/client/error.h"

namespace embd::client::fake {
namespace {

absl::Status Invalid(absl::string_view reason, absl::string_view message) {
  return ErrorWithReason(absl::StatusCode::kInvalidArgument, reason, message);
}

absl::Status TooLarge(absl::string_view reason, absl::string_view message) {
  return ErrorWithReason(absl::StatusCode::kResourceExhausted, reason, message);
}

// Of factors >= 0.
std::optional<std::int64_t> Product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) return std::nullopt;
  }
  return product;
}

absl::Status CheckOptions(const FakeModel& model, const EmbedRequest& request) {
  if (request.part < Part::kUnspecified || request.part > Part::kPosition) {
    return Invalid("UNKNOWN_ENUM_VALUE", absl::StrCat("part ", static_cast<int>(request.part), " is unknown"));
  }
  if (request.output_type < DataType::kUnspecified || request.output_type > DataType::kUint32) {
    return Invalid("UNKNOWN_ENUM_VALUE",
                   absl::StrCat("output_type ", static_cast<int>(request.output_type), " is unknown"));
  }
  if (request.output_type > DataType::kBfloat16) {
    return Invalid("INVALID_OPTION", absl::StrCat(DataTypeName(request.output_type), " is no output type"));
  }
  if (request.part == Part::kPosition && PositionRows(model) == 0) {
    return ErrorWithReason(absl::StatusCode::kFailedPrecondition, "NO_POSITION_TABLE",
                           absl::StrCat("model \"", model.name, "\" has no position table"));
  }
  return absl::OkStatus();
}

absl::Status CheckShape(const EmbedRequest& request) {
  const std::int64_t batch = request.batch_size;
  const std::int64_t tokens = request.sequence_length;
  if (batch < 0 || tokens < 1) {
    return Invalid("INVALID_SHAPE",
                   absl::StrCat("batch_size ", batch, " or sequence_length ", tokens, " is too small"));
  }
  const auto cells = Product({batch, tokens});
  const bool needs_ids = request.part != Part::kPosition || !request.ids.empty();
  if (!cells.has_value() || (needs_ids && static_cast<std::int64_t>(request.ids.size()) != *cells)) {
    return Invalid("INVALID_SHAPE",
                   absl::StrCat(request.ids.size(), " ids are not batch_size ", batch, " x sequence_length ", tokens));
  }
  return absl::OkStatus();
}

bool Exceeds(std::int64_t value, std::int64_t limit) { return limit > 0 && value > limit; }

absl::Status CheckLimits(const FakeModel& model, const EmbedRequest& request, const ServerLimits& limits) {
  if (Exceeds(request.batch_size, limits.max_batch_size)) {
    return TooLarge("REQUEST_TOO_LARGE",
                    absl::StrCat("batch_size ", request.batch_size, " exceeds max_batch_size ", limits.max_batch_size));
  }
  if (Exceeds(request.sequence_length, limits.max_sequence_length)) {
    return TooLarge("REQUEST_TOO_LARGE", absl::StrCat("sequence_length ", request.sequence_length,
                                                      " exceeds max_sequence_length ", limits.max_sequence_length));
  }
  const DataType type = request.output_type == DataType::kUnspecified ? DataType::kFloat32 : request.output_type;
  const auto bytes = Product({request.batch_size, request.sequence_length, model.embedding_dim,
                              static_cast<std::int64_t>(DataTypeSize(type))});
  if (!bytes.has_value() || Exceeds(*bytes, limits.max_response_bytes)) {
    return TooLarge("RESPONSE_TOO_LARGE",
                    absl::StrCat("the reply exceeds max_response_bytes ", limits.max_response_bytes));
  }
  return absl::OkStatus();
}

// The rows that positions may name, or nothing where the part does not look at them.
std::optional<std::int64_t> RowsForPositions(const FakeModel& model, Part part) {
  if (part == Part::kToken || PositionRows(model) == 0) return std::nullopt;
  return PositionRows(model);
}

absl::Status CheckPositionIds(const EmbedRequest& request, std::optional<std::int64_t> rows) {
  if (!request.position_offsets.empty()) {
    return Invalid("INVALID_OPTION", "position_ids and position_offsets exclude each other");
  }
  const auto count = static_cast<std::int64_t>(request.position_ids.size());
  if (count != request.sequence_length && count != request.batch_size * request.sequence_length) {
    return Invalid("INVALID_SHAPE", absl::StrCat(count, " position_ids are not sequence_length ",
                                                 request.sequence_length, " or batch_size x sequence_length"));
  }
  for (const std::int64_t position : request.position_ids) {
    if (position >= 0 && (!rows.has_value() || position < *rows)) continue;
    return Invalid("POSITION_OUT_OF_RANGE", absl::StrCat("position_ids: ", position, " names no row"));
  }
  return absl::OkStatus();
}

absl::Status CheckPositions(const FakeModel& model, const EmbedRequest& request) {
  const auto rows = RowsForPositions(model, request.part);
  if (!request.position_ids.empty()) return CheckPositionIds(request, rows);
  if (rows.has_value() && request.sequence_length > *rows) {
    return Invalid("SEQUENCE_TOO_LONG",
                   absl::StrCat("sequence_length ", request.sequence_length, " exceeds max_context_length ", *rows,
                                " of model \"", model.name, "\""));
  }
  const auto count = static_cast<std::int64_t>(request.position_offsets.size());
  if (count > 1 && count != request.batch_size) {
    return Invalid("INVALID_SHAPE",
                   absl::StrCat(count, " position_offsets are not 1 or batch_size ", request.batch_size));
  }
  for (const std::int64_t offset : request.position_offsets) {
    if (offset >= 0 && (!rows.has_value() || offset <= *rows - request.sequence_length)) continue;
    return Invalid("POSITION_OUT_OF_RANGE", absl::StrCat("position_offsets: ", offset, " with sequence_length ",
                                                         request.sequence_length, " leaves the position table"));
  }
  return absl::OkStatus();
}

absl::Status CheckIds(const FakeModel& model, const EmbedRequest& request) {
  const auto bad = std::find_if(request.ids.begin(), request.ids.end(),
                                [&model](std::int64_t id) { return id < 0 || id >= VocabSize(model); });
  if (bad == request.ids.end()) return absl::OkStatus();
  const std::int64_t cell = bad - request.ids.begin();
  return Invalid("ID_OUT_OF_RANGE",
                 absl::StrCat("ids[", cell / request.sequence_length, "][", cell % request.sequence_length,
                              "] = ", *bad, " is outside [0, ", VocabSize(model), ") of model \"", model.name, "\""));
}

}  // namespace

absl::Status CheckEmbed(const FakeModel& model, const EmbedRequest& request, const ServerLimits& limits) {
  if (absl::Status status = CheckOptions(model, request); !status.ok()) return status;
  if (absl::Status status = CheckShape(request); !status.ok()) return status;
  if (absl::Status status = CheckLimits(model, request, limits); !status.ok()) return status;
  if (absl::Status status = CheckPositions(model, request); !status.ok()) return status;
  return CheckIds(model, request);
}

}  // namespace embd::client::fake
