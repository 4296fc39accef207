#include "client/fake/lookup.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/fake/positions.h"
#include "client/fake/refusal.h"

namespace embd::client::fake {
namespace {

std::int64_t Rows(const std::vector<float>& table, std::int64_t dim) {
  return dim < 1 ? 0 : static_cast<std::int64_t>(table.size()) / dim;
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
std::int64_t TypeRows(const FakeModel& model) { return Rows(model.token_type, model.embedding_dim); }

bool HasLayerNorm(const FakeModel& model) {
  const auto dim = static_cast<std::size_t>(model.embedding_dim);
  return model.layer_norm_weight.size() >= dim && model.layer_norm_bias.size() >= dim;
}

ModelDescription Describe(const FakeModel& model) {
  const PositionEncoding encoding = EncodingOf(model);
  ModelDescription result = {.name = model.name,
                             .version = model.version,
                             .generation = 1,
                             .checksum = model.checksum,
                             .position_encoding = encoding,
                             .vocab_size = VocabSize(model),
                             .embedding_dim = model.embedding_dim,
                             .vocabulary_words = static_cast<std::int64_t>(model.vocabulary.size()),
                             .rotary = model.rotary,
                             .row_offset = model.row_offset,
                             .padding_idx = model.padding_idx,
                             .token_scale = double{model.token_scale},
                             .has_token_types = TypeRows(model) > 0,
                             .out_of_range = OutOfRangePolicy::kError,
                             .output_tied = model.output_tied,
                             .output_scale = model.output_scale,
                             .output_softcap = model.output_softcap,
                             .has_output_bias = !model.output_bias.empty()};
  for (const auto& [layer_type, parameters] : model.rotary_layer_types) {
    result.rotary_layer_types.push_back({layer_type, parameters});
  }
  result.tables.push_back(DescribeTable(TableKind::kToken, model.token, model.embedding_dim, true));
  if (PositionRows(model) > 0) {
    const bool trainable = encoding != PositionEncoding::kSinusoidal;
    result.max_context_length = ContextLength(model);
    result.numbering =
        model.numbering == PositionNumbering::kUnspecified ? PositionNumbering::kSequential : model.numbering;
    result.tables.push_back(DescribeTable(TableKind::kPosition, model.position, model.embedding_dim, trainable));
  }
  if (TypeRows(model) > 0) {
    result.tables.push_back(DescribeTable(TableKind::kTokenType, model.token_type, model.embedding_dim, true));
  }
  if (HasLayerNorm(model)) result.layer_norm_eps = model.layer_norm_eps;
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
