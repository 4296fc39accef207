#include "client/src/plain_reason.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace embd::client {
namespace {

// The first of the reasons that holds.
template <std::size_t N>
std::string FirstOf(const std::pair<bool, const char*> (&reasons)[N]) {
  for (const auto& [holds, reason] : reasons) {
    if (holds) return reason;
  }
  return "";
}

bool IsFloat(DataType type) {
  return type == DataType::kUnspecified || type == DataType::kFloat32 || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

bool Exceeds(std::int64_t value, std::int64_t limit) { return limit > 0 && value > limit; }

// In double, which knows no overflow; near the limit the server decides.
bool ReplyExceeds(const EmbedRequest& request, const ModelDescription& model, std::int64_t limit) {
  const double element =
      request.output_type == DataType::kFloat16 || request.output_type == DataType::kBfloat16 ? 2 : 4;
  const double bytes = static_cast<double>(request.batch_size) * static_cast<double>(request.sequence_length) *
                       static_cast<double>(model.embedding_dim) * element;
  return limit > 0 && bytes > static_cast<double>(limit);
}

bool HasBadIds(const EmbedRequest& request, const ModelDescription& model) {
  if (request.sequence_length < 1 || request.batch_size < 0) return true;
  const auto ids = static_cast<std::int64_t>(request.ids.size());
  if (ids / request.sequence_length != request.batch_size || ids % request.sequence_length != 0) return true;
  const auto vocab_size = static_cast<std::uint64_t>(model.vocab_size);
  bool bad = false;
  for (const std::int64_t id : request.ids) bad |= static_cast<std::uint64_t>(id) >= vocab_size;
  return bad;
}

}  // namespace

std::string WhyModelIsPlain(const ModelDescription& model) {
  const bool has_positions =
      model.position_encoding == PositionEncoding::kLearned || model.position_encoding == PositionEncoding::kSinusoidal;
  const bool counts_columns =
      model.numbering == PositionNumbering::kSequential || model.numbering == PositionNumbering::kFixed;
  return FirstOf({
      {model.layer_norm_eps.has_value(), "the model has a LayerNorm"},
      {model.has_token_types && !model.token_types_only_when_sent, "the model adds token types"},
      {model.dropout_mask_id.has_value(), "the model rescales rows as ESM's token dropout does"},
      {model.saturate, "the model saturates"},
      {model.out_of_range != OutOfRangePolicy::kError, "the model serves ids out of range"},
      {has_positions && !(counts_columns && model.max_context_length.has_value()),
       "the model numbers positions by ids or mask"},
      {!has_positions && model.position_encoding != PositionEncoding::kNone &&
           model.position_encoding != PositionEncoding::kRotary,
       "the model's position encoding is not known here"},
      {model.tables.empty() || model.vocab_size < 1 || model.embedding_dim < 1, "the model has no table"},
  });
}

std::string WhyRequestIsPlain(const EmbedRequest& request, const ModelDescription& model, const ServerLimits& limits) {
  const bool token = request.part == Part::kToken;
  const bool composed = request.part == Part::kComposed || request.part == Part::kUnspecified;
  return FirstOf({
      {request.model != model.name || !request.model_version.empty(), "another model or a version is named"},
      {!(token || composed), "the part is not composed or token"},
      {!IsFloat(request.output_type), "the output type is none"},
      {request.unique, "distinct rows are asked for"},
      {!request.if_checksum.empty(), "a checksum is given"},
      {request.output_target.has_value(), "the result goes into shared memory"},
      {request.inputs_embeds.has_value(), "vectors are given"},
      {!request.token_type_ids.empty(), "token types are given"},
      {!request.attention_mask.empty(), "a mask is given"},
      {!request.row_lengths.empty() || request.ragged_layout != RaggedLayout::kUnspecified ||
           request.padding_side != PaddingSide::kUnspecified,
       "rows are ragged"},
      {token && !(request.position_ids.empty() && request.position_offsets.empty()), "positions of a token part"},
      {Exceeds(request.batch_size, limits.max_batch_size) ||
           Exceeds(request.sequence_length, limits.max_sequence_length) ||
           ReplyExceeds(request, model, limits.max_response_bytes),
       "the batch exceeds a limit of the server"},
      {HasBadIds(request, model), "ids are out of range or do not fit the shape"},
  });
}

}  // namespace embd::client
