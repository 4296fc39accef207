#include "client/fake/lookup.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "embd/client/error.h"

namespace embd::client::fake {
namespace {

absl::Status Invalid(absl::string_view reason, absl::string_view message) {
  return ErrorWithReason(absl::StatusCode::kInvalidArgument, reason, message);
}

std::int64_t Rows(const std::vector<float>& table, std::int64_t dim) {
  return dim < 1 ? 0 : static_cast<std::int64_t>(table.size()) / dim;
}

bool Adds(const FakeModel& model, Part part) {
  return part == Part::kPosition || (part != Part::kToken && PositionRows(model) > 0);
}

std::int64_t PositionOf(const EmbedRequest& request, std::int64_t row, std::int64_t column) {
  const auto& ids = request.position_ids;
  if (!ids.empty()) {
    const bool shared = static_cast<std::int64_t>(ids.size()) == request.sequence_length;
    return ids[static_cast<std::size_t>(shared ? column : row * request.sequence_length + column)];
  }
  const auto& offsets = request.position_offsets;
  if (offsets.empty()) return column;
  return offsets[offsets.size() == 1 ? 0 : static_cast<std::size_t>(row)] + column;
}

TableDescription DescribeTable(TableKind kind, const std::vector<float>& table, std::int64_t dim, bool trainable) {
  const std::int64_t count = Rows(table, dim) * dim;
  return {.kind = kind,
          .data_type = DataType::kFloat32,
          .shape = {Rows(table, dim), dim},
          .element_count = count,
          .parameter_count = trainable ? count : 0,
          .byte_size = count * 4,
          .checksum = "fake",
          .source = "fake"};
}

PositionEncoding EncodingOf(const FakeModel& model) {
  if (model.position_encoding != PositionEncoding::kUnspecified) return model.position_encoding;
  if (PositionRows(model) > 0) return PositionEncoding::kLearned;
  return model.rotary.has_value() ? PositionEncoding::kRotary : PositionEncoding::kNone;
}

}  // namespace

std::int64_t VocabSize(const FakeModel& model) { return Rows(model.token, model.embedding_dim); }
std::int64_t PositionRows(const FakeModel& model) { return Rows(model.position, model.embedding_dim); }

std::vector<float> LookUp(const FakeModel& model, const EmbedRequest& request) {
  const std::int64_t dim = model.embedding_dim;
  const bool with_token = request.part != Part::kPosition;
  const bool with_position = Adds(model, request.part);
  std::vector<float> result;
  for (std::int64_t row = 0; row < request.batch_size; ++row) {
    for (std::int64_t column = 0; column < request.sequence_length; ++column) {
      const auto cell = static_cast<std::size_t>(row * request.sequence_length + column);
      const std::int64_t token = with_token ? request.ids[cell] * dim : 0;
      const std::int64_t position = with_position ? PositionOf(request, row, column) * dim : 0;
      for (std::int64_t d = 0; d < dim; ++d) {
        float value = with_token ? model.token[static_cast<std::size_t>(token + d)] : 0.0F;
        if (with_position) value += model.position[static_cast<std::size_t>(position + d)];
        result.push_back(value);
      }
    }
  }
  return result;
}

ModelDescription Describe(const FakeModel& model) {
  const PositionEncoding encoding = EncodingOf(model);
  ModelDescription result = {.name = model.name,
                             .version = model.version,
                             .generation = 1,
                             .checksum = "fake",
                             .position_encoding = encoding,
                             .vocab_size = VocabSize(model),
                             .embedding_dim = model.embedding_dim,
                             .vocabulary_words = static_cast<std::int64_t>(model.vocabulary.size()),
                             .rotary = model.rotary};
  for (const auto& [layer_type, parameters] : model.rotary_layer_types) {
    result.rotary_layer_types.push_back({layer_type, parameters});
  }
  result.tables.push_back(DescribeTable(TableKind::kToken, model.token, model.embedding_dim, true));
  if (PositionRows(model) > 0) {
    const bool trainable = encoding != PositionEncoding::kSinusoidal;
    result.max_context_length = PositionRows(model);
    result.tables.push_back(DescribeTable(TableKind::kPosition, model.position, model.embedding_dim, trainable));
  }
  for (const TableDescription& table : result.tables) result.parameter_count += table.parameter_count;
  return result;
}

ModelSummary Summarize(const FakeModel& model) {
  const ModelDescription description = Describe(model);
  ModelSummary result = {.name = description.name,
                         .version = description.version,
                         .generation = description.generation,
                         .position_encoding = description.position_encoding,
                         .vocab_size = description.vocab_size,
                         .embedding_dim = description.embedding_dim,
                         .max_context_length = description.max_context_length,
                         .data_type = DataType::kFloat32,
                         .parameter_count = description.parameter_count};
  for (const TableDescription& table : description.tables) result.byte_size += table.byte_size;
  return result;
}

absl::StatusOr<TokenIds> FindTokens(const FakeModel& model, const LookUpTokensRequest& request) {
  if (model.vocabulary.empty()) {
    return ErrorWithReason(absl::StatusCode::kFailedPrecondition, "NO_VOCABULARY",
                           absl::StrCat("model \"", model.name, "\" has no vocabulary"));
  }
  TokenIds result = {.model = model.name, .model_version = model.version};
  for (const std::string& token : request.tokens) {
    const auto found = std::find(model.vocabulary.begin(), model.vocabulary.end(), token);
    if (found == model.vocabulary.end()) {
      return Invalid("UNKNOWN_TOKEN", absl::StrCat("tokens[", result.ids.size(), "] = \"", token,
                                                   "\" is not in the vocabulary of model \"", model.name, "\""));
    }
    result.ids.push_back(found - model.vocabulary.begin());
  }
  return result;
}

}  // namespace embd::client::fake
