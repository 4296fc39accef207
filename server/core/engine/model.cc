#include "server/core/engine/model.h"

#include <bit>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/table/checksum.h"

namespace embd::core {
namespace {

std::string ChecksumLine(absl::string_view kind, const ModelTable& entry) {
  return absl::StrCat(kind, " ", ElementTypeName(entry.table.element_type()), " ", entry.table.rows(), "x",
                      entry.table.dim(), " ", entry.checksum, "\n");
}

// What changes results besides tables, where it is not what it is by default.
std::string SettingLines(const ModelParts& parts) {
  std::string text;
  const auto add = [&text](bool differs, const auto&... words) {
    if (differs) absl::StrAppend(&text, words..., "\n");
  };
  add(parts.token_scale != 1.0f, "token_scale ", absl::Hex(std::bit_cast<std::uint32_t>(parts.token_scale)));
  add(parts.out_of_range != OutOfRangePolicy::kError, "out_of_range ", OutOfRangePolicyName(parts.out_of_range));
  add(parts.out_of_range == OutOfRangePolicy::kUnk, "unk_id ", parts.unk_id);
  add(parts.dropout_mask_id.has_value(), "dropout_mask_id ", parts.dropout_mask_id.value_or(0));
  add(parts.token_types.has_value() && parts.token_types->only_when_sent, "token_type only_when_sent");
  add(parts.token_types.has_value() && parts.position_before_type, "position before type");
  add(parts.position.has_value() && parts.numbering != Numbering::kSequential, "numbering ",
      NumberingName(parts.numbering));
  add(parts.position.has_value() && parts.row_offset != 0, "row_offset ", parts.row_offset);
  add(parts.numbering == Numbering::kPadding, "padding_idx ", parts.padding_idx.value_or(-1));
  if (parts.layer_norm.has_value()) {
    const double eps = parts.layer_norm->parameters.eps;
    add(eps != LayerNormParameters().eps, "eps ", absl::Hex(std::bit_cast<std::uint64_t>(eps)));
  }
  add(parts.zero_masked, "zero_masked");
  add(parts.saturate, "saturate");
  // Results are never scored by another table than the token table, so its scale and the rest change nothing then.
  if (const ModelOutput& output = parts.output; output.tied) {
    add(output.scale != 1.0, "output_scale ", absl::Hex(std::bit_cast<std::uint64_t>(output.scale)));
    add(output.softcap.has_value(), "output_softcap ",
        absl::Hex(std::bit_cast<std::uint64_t>(output.softcap.value_or(0))));
    add(!output.bias.empty(), "output_bias ", Sha256Hex(std::as_bytes(std::span(output.bias))));
  }
  return text;
}

std::string ModelChecksum(const ModelParts& parts) {
  std::string text = ChecksumLine("token", parts.token);
  if (parts.position.has_value()) text += ChecksumLine("position", *parts.position);
  if (parts.token_types.has_value() && parts.token_types->table.has_value()) {
    text += ChecksumLine("token_type", *parts.token_types->table);
  }
  if (parts.layer_norm.has_value()) {
    std::vector<float> rows = parts.layer_norm->parameters.weight;
    rows.insert(rows.end(), parts.layer_norm->parameters.bias.begin(), parts.layer_norm->parameters.bias.end());
    absl::StrAppend(&text, "layer_norm float32 2x", rows.size() / 2, " ", Sha256Hex(std::as_bytes(std::span(rows))),
                    "\n");
  }
  text += SettingLines(parts);
  return Sha256Hex(std::as_bytes(std::span(text)));
}

absl::Status Invalid(const ModelParts& parts, absl::string_view what) {
  return InvalidArgument("INVALID_MODEL", absl::StrCat("model ", Quote(parts.name), ": ", what));
}

absl::Status CheckSameWidth(const ModelParts& parts, absl::string_view other, std::int64_t dim) {
  if (dim == parts.token.table.dim()) return absl::OkStatus();
  return Invalid(parts, absl::StrCat("token and ", other, " must share embedding_dim (", parts.token.table.dim(),
                                     " vs ", dim, ")"));
}

absl::Status CheckIsId(const ModelParts& parts, absl::string_view name, std::int64_t id) {
  if (id >= 0 && id < parts.token.table.rows()) return absl::OkStatus();
  return Invalid(parts, absl::StrCat(name, " = ", id, " is outside [0, ", parts.token.table.rows(),
                                     "), the rows of the token table"));
}

std::int64_t PositionRows(const ModelParts& parts) {
  if (!parts.position.has_value()) return 0;
  return parts.growth != nullptr ? parts.growth->end_row() : parts.position->table.rows();
}

// The rows in front that the numbering never counts to.
std::int64_t UncountedRows(const ModelParts& parts) {
  return parts.row_offset + (parts.numbering == Numbering::kPadding ? *parts.padding_idx + 1 : 0);
}

absl::Status CheckNumbering(const ModelParts& parts) {
  if (parts.numbering == Numbering::kPadding && !parts.padding_idx.has_value()) {
    return Invalid(parts, "numbering padding needs padding_idx");
  }
  if (parts.numbering == Numbering::kMask && parts.row_offset < 1) {
    return Invalid(parts, "numbering mask needs a row_offset of at least 1, since masked cells have position -1");
  }
  constexpr std::int64_t kMaxRowOffset = std::int64_t{1} << 32;  // far beyond any table, and far from overflow
  if (parts.row_offset < 0 || parts.row_offset > kMaxRowOffset) {
    return Invalid(parts, absl::StrCat("row_offset must be from 0 to 2^32, got ", parts.row_offset));
  }
  const std::int64_t rows = PositionRows(parts);
  if (parts.position.has_value() && rows <= UncountedRows(parts)) {
    return Invalid(parts, absl::StrCat("the position table has ", rows, " rows, but numbering ",
                                       NumberingName(parts.numbering), " begins at row ", UncountedRows(parts)));
  }
  return absl::OkStatus();
}

absl::Status CheckPositions(const ModelParts& parts) {
  const bool adds_positions =
      parts.position_encoding == PositionEncoding::kLearned || parts.position_encoding == PositionEncoding::kSinusoidal;
  if (adds_positions != parts.position.has_value()) {
    return Invalid(parts, absl::StrCat("position encoding ", PositionEncodingName(parts.position_encoding),
                                       adds_positions ? " needs a position table" : " has no position table"));
  }
  if (parts.position.has_value()) {
    if (absl::Status status = CheckSameWidth(parts, "position tables", parts.position->table.dim()); !status.ok()) {
      return status;
    }
  }
  return CheckNumbering(parts);
}

absl::Status CheckIds(const ModelParts& parts) {
  if (parts.padding_idx.has_value()) {
    if (absl::Status status = CheckIsId(parts, "padding_idx", *parts.padding_idx); !status.ok()) return status;
  }
  if (parts.dropout_mask_id.has_value()) {
    if (absl::Status status = CheckIsId(parts, "dropout_mask_id", *parts.dropout_mask_id); !status.ok()) return status;
    if (parts.token_scale != 1.0f) return Invalid(parts, "token rows have either a scale or dropout_mask_id");
  }
  return parts.out_of_range == OutOfRangePolicy::kUnk ? CheckIsId(parts, "out_of_range: unk", parts.unk_id)
                                                      : absl::OkStatus();
}

absl::Status CheckLayerNorm(const ModelParts& parts) {
  if (!parts.layer_norm.has_value()) return absl::OkStatus();
  const LayerNormParameters& norm = parts.layer_norm->parameters;
  for (const auto& [name, size] : {std::pair("weight", norm.weight.size()), std::pair("bias", norm.bias.size())}) {
    if (static_cast<std::int64_t>(size) == parts.token.table.dim()) continue;
    return Invalid(parts, absl::StrCat("layer_norm.", name, " has ", size, " elements, embedding_dim is ",
                                       parts.token.table.dim()));
  }
  if (!std::isfinite(norm.eps) || norm.eps < 0) {
    return Invalid(parts, absl::StrCat("layer_norm.eps must be finite and >= 0, got ", norm.eps));
  }
  return absl::OkStatus();
}

absl::Status CheckOutput(const ModelParts& parts) {
  const ModelOutput& output = parts.output;
  for (const auto& [name, value] :
       {std::pair("scale", output.scale), std::pair("softcap", output.softcap.value_or(1))}) {
    if (std::isfinite(value) && value > 0) continue;
    return Invalid(parts, absl::StrCat("output.", name, " must be a finite number > 0, got ", value));
  }
  if (output.bias.empty() || static_cast<std::int64_t>(output.bias.size()) == parts.token.table.rows()) {
    return absl::OkStatus();
  }
  return Invalid(parts, absl::StrCat("output.bias has ", output.bias.size(), " elements, vocab_size is ",
                                     parts.token.table.rows()));
}

absl::Status Check(const ModelParts& parts) {
  if (absl::Status status = CheckIds(parts); !status.ok()) return status;
  if (absl::Status status = CheckPositions(parts); !status.ok()) return status;
  if (parts.token_types.has_value() && parts.token_types->table.has_value()) {
    const std::int64_t dim = parts.token_types->table->table.dim();
    if (absl::Status status = CheckSameWidth(parts, "token type tables", dim); !status.ok()) return status;
  }
  if (absl::Status status = CheckLayerNorm(parts); !status.ok()) return status;
  if (absl::Status status = CheckOutput(parts); !status.ok()) return status;
  if (!std::isfinite(parts.token_scale)) return Invalid(parts, "the token scale is not finite");
  if (parts.vocabulary.has_value() && parts.vocabulary->size() != parts.token.table.rows()) {
    return Invalid(parts, absl::StrCat("the vocabulary has ", parts.vocabulary->size(), " words, the token table ",
                                       parts.token.table.rows(), " rows"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view PositionEncodingName(PositionEncoding encoding) {
  switch (encoding) {
    case PositionEncoding::kNone: return "none";
    case PositionEncoding::kLearned: return "learned";
    case PositionEncoding::kSinusoidal: return "sinusoidal";
    case PositionEncoding::kRotary: return "rotary";
  }
  return "";
}

absl::string_view NumberingName(Numbering numbering) {
  switch (numbering) {
    case Numbering::kSequential: return "sequential";
    case Numbering::kFixed: return "fixed";
    case Numbering::kPadding: return "padding";
    case Numbering::kMask: return "mask";
  }
  return "";
}

absl::string_view OutOfRangePolicyName(OutOfRangePolicy policy) {
  switch (policy) {
    case OutOfRangePolicy::kError: return "error";
    case OutOfRangePolicy::kZero: return "zero";
    case OutOfRangePolicy::kUnk: return "unk";
  }
  return "";
}

ModelTable ModelTable::Of(Table table, std::string source, bool trainable) {
  std::string checksum = TableChecksum(table);
  return {std::move(table), std::move(source), trainable, std::move(checksum)};
}

absl::StatusOr<std::shared_ptr<const Model>> Model::Create(ModelParts parts) {
  if (absl::Status status = Check(parts); !status.ok()) return status;
  return std::shared_ptr<const Model>(new Model(std::move(parts)));
}

absl::Status Model::CheckUndamaged() const {
  const ModelTable* const position = this->position();
  const ModelTable* const types =
      parts_.token_types && parts_.token_types->table ? &*parts_.token_types->table : nullptr;
  for (const ModelTable* const entry : {&parts_.token, position, types}) {
    if (entry == nullptr || !entry->table.damaged()) continue;
    return Error(absl::StatusCode::kFailedPrecondition, "TABLE_DAMAGED",
                 absl::StrCat("model ", Quote(parts_.name), ": its table is mapped from ", Quote(entry->source),
                              ", which has become shorter; restore the file and start the server again"));
  }
  return absl::OkStatus();
}

Model::Model(ModelParts parts) : parts_(std::move(parts)), checksum_(ModelChecksum(parts_)) {}

const Table* Model::token_type_table() const {
  if (!parts_.token_types.has_value()) return nullptr;
  return parts_.token_types->table.has_value() ? &parts_.token_types->table->table : &parts_.token.table;
}

std::int64_t Model::position_rows() const { return PositionRows(parts_); }

std::optional<std::int64_t> Model::max_context_length() const {
  if (!parts_.position.has_value()) return std::nullopt;
  return PositionRows(parts_) - UncountedRows(parts_);
}

}  // namespace embd::core
