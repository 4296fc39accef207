#include "server/core/engine/model.h"

#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/table/checksum.h"

namespace embd::core {
namespace {

std::string ChecksumLine(absl::string_view kind, const ModelTable& entry) {
  return absl::StrCat(kind, " ", ElementTypeName(entry.table.element_type()), " ", entry.table.rows(), "x",
                      entry.table.dim(), " ", entry.checksum, "\n");
}

std::string ModelChecksum(const ModelParts& parts) {
  std::string text = ChecksumLine("token", parts.token);
  if (parts.position.has_value()) text += ChecksumLine("position", *parts.position);
  return Sha256Hex(std::as_bytes(std::span(text)));
}

absl::Status Invalid(const ModelParts& parts, absl::string_view what) {
  return InvalidArgument("INVALID_MODEL", absl::StrCat("model ", Quote(parts.name), ": ", what));
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

ModelTable ModelTable::Of(Table table, std::string source, bool trainable) {
  std::string checksum = TableChecksum(table);
  return {std::move(table), std::move(source), trainable, std::move(checksum)};
}

absl::StatusOr<std::shared_ptr<const Model>> Model::Create(ModelParts parts) {
  const bool adds_positions =
      parts.position_encoding == PositionEncoding::kLearned || parts.position_encoding == PositionEncoding::kSinusoidal;
  if (adds_positions != parts.position.has_value()) {
    return Invalid(parts, absl::StrCat("position encoding ", PositionEncodingName(parts.position_encoding),
                                       adds_positions ? " needs a position table" : " has no position table"));
  }
  if (parts.position.has_value() && parts.position->table.dim() != parts.token.table.dim()) {
    return Invalid(parts, absl::StrCat("token and position tables must share embedding_dim (", parts.token.table.dim(),
                                       " vs ", parts.position->table.dim(), ")"));
  }
  if (parts.vocabulary.has_value() && parts.vocabulary->size() != parts.token.table.rows()) {
    return Invalid(parts, absl::StrCat("the vocabulary has ", parts.vocabulary->size(), " words, the token table ",
                                       parts.token.table.rows(), " rows"));
  }
  return std::shared_ptr<const Model>(new Model(std::move(parts)));
}

Model::Model(ModelParts parts) : parts_(std::move(parts)), checksum_(ModelChecksum(parts_)) {}

}  // namespace embd::core
