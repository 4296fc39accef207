#include "client/src/convert_tables.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "client/src/convert_rotary.h"
#include "client/src/convert_values.h"

namespace embd::client {
namespace {

v1::SinusoidalFormula ToProto(const SinusoidalFormula& formula) {
  v1::SinusoidalFormula message;
  message.set_embedding_dim(formula.embedding_dim);
  if (formula.base.has_value()) message.set_base(*formula.base);
  message.set_tensor2tensor(formula.tensor2tensor);
  return message;
}

}  // namespace

v1::TableStatisticsRequest ToProto(const TableStatisticsRequest& request) {
  v1::TableStatisticsRequest message;
  message.set_model(request.model);
  message.set_model_version(request.model_version);
  message.set_table(static_cast<v1::TableKind>(request.table));
  message.set_histogram_bins(request.histogram_bins);
  return message;
}

v1::CosineSimilaritiesRequest ToProto(const CosineSimilaritiesRequest& request) {
  v1::CosineSimilaritiesRequest message;
  message.set_model(request.model);
  message.set_model_version(request.model_version);
  message.set_table(static_cast<v1::TableKind>(request.table));
  message.set_first_row(request.first_row);
  message.set_row_count(request.row_count);
  Assign(request.row_ids, message.mutable_row_ids());
  return message;
}

v1::NearestTokensRequest ToProto(const NearestTokensRequest& request) {
  v1::NearestTokensRequest message;
  message.set_model(request.model);
  message.set_model_version(request.model_version);
  message.set_table(static_cast<v1::TableKind>(request.table));
  Assign(request.ids, message.mutable_ids());
  Assign(request.tokens, message.mutable_tokens());
  for (const Analogy& analogy : request.analogies) {
    v1::Analogy& one = *message.add_analogies();
    Assign(analogy.plus_ids, one.mutable_plus_ids());
    Assign(analogy.minus_ids, one.mutable_minus_ids());
    Assign(analogy.plus_tokens, one.mutable_plus_tokens());
    Assign(analogy.minus_tokens, one.mutable_minus_tokens());
  }
  message.set_top_k(request.top_k);
  message.set_metric(static_cast<v1::Metric>(request.metric));
  message.set_include_queries(request.include_queries);
  message.set_with_tokens(request.with_tokens);
  if (request.vectors.has_value()) ToProto(*request.vectors, message.mutable_vectors());
  return message;
}

v1::PositionWavelengthsRequest ToProto(const PositionWavelengthsRequest& request) {
  v1::PositionWavelengthsRequest message;
  message.set_model(request.model);
  message.set_model_version(request.model_version);
  message.set_layer_type(request.layer_type);
  if (request.sinusoidal.has_value()) *message.mutable_sinusoidal() = ToProto(*request.sinusoidal);
  if (request.rotary.has_value()) *message.mutable_rotary() = ToProto(*request.rotary);
  if (request.scaling_length.has_value()) message.set_scaling_length(*request.scaling_length);
  return message;
}

v1::ShiftPropertyRequest ToProto(const ShiftPropertyRequest& request) {
  v1::ShiftPropertyRequest message;
  message.set_model(request.model);
  message.set_model_version(request.model_version);
  if (request.sinusoidal.has_value()) *message.mutable_sinusoidal() = ToProto(*request.sinusoidal);
  message.set_max_context_length(request.max_context_length);
  message.set_offset(request.offset);
  return message;
}

v1::ExplainCellRequest ToProto(const ExplainCellRequest& request) {
  v1::ExplainCellRequest message;
  message.set_model(request.model);
  message.set_model_version(request.model_version);
  Assign(request.ids, message.mutable_ids());
  message.set_batch_size(request.batch_size);
  message.set_sequence_length(request.sequence_length);
  Assign(request.position_offsets, message.mutable_position_offsets());
  Assign(request.position_ids, message.mutable_position_ids());
  Assign(request.token_type_ids, message.mutable_token_type_ids());
  Assign(request.row_lengths, message.mutable_row_lengths());
  Assign(request.attention_mask, message.mutable_attention_mask());
  message.set_batch_index(request.batch_index);
  message.set_sequence_index(request.sequence_index);
  return message;
}

absl::StatusOr<TableStatistics> FromProto(v1::TableStatisticsResponse&& response) {
  const int bins = response.histogram_counts_size();
  if (response.histogram_edges_size() != (bins == 0 ? 0 : bins + 1)) {
    return MakesNoSense("the histogram's edges do not fit its counts");
  }
  if (response.duplicates_of_size() != response.first_duplicate_rows_size()) {
    return MakesNoSense("first_duplicate_rows and duplicates_of differ in length");
  }
  return TableStatistics{.model = response.model(),
                         .model_version = response.model_version(),
                         .table = static_cast<TableKind>(response.table()),
                         .rows = response.rows(),
                         .embedding_dim = response.embedding_dim(),
                         .data_type = static_cast<DataType>(response.data_type()),
                         .parameter_count = response.parameter_count(),
                         .byte_size = response.byte_size(),
                         .checksum = response.checksum(),
                         .mean = response.mean(),
                         .std = response.std(),
                         .min = response.min(),
                         .max = response.max(),
                         .norm_mean = response.norm_mean(),
                         .norm_std = response.norm_std(),
                         .norm_min = response.norm_min(),
                         .norm_max = response.norm_max(),
                         .nan_count = response.nan_count(),
                         .inf_count = response.inf_count(),
                         .zero_rows = response.zero_rows(),
                         .duplicate_rows = response.duplicate_rows(),
                         .first_bad_cell = ToVector(response.first_bad_cell()),
                         .histogram_edges = ToVector(response.histogram_edges()),
                         .histogram_counts = ToVector(response.histogram_counts()),
                         .bad_rows = ToVector(response.bad_rows()),
                         .first_zero_rows = ToVector(response.first_zero_rows()),
                         .first_duplicate_rows = ToVector(response.first_duplicate_rows()),
                         .duplicates_of = ToVector(response.duplicates_of())};
}

absl::StatusOr<CosineSimilarities> FromProto(v1::CosineSimilaritiesResponse&& response) {
  auto cosines = ToFloats(std::move(*response.mutable_cosines()));
  if (!cosines.ok()) return cosines.status();
  const auto rows = static_cast<std::size_t>(response.row_ids_size());
  if (cosines->size() != rows * rows) return MakesNoSense("cosines are not one for each pair of row_ids");
  return CosineSimilarities{.model = response.model(),
                            .model_version = response.model_version(),
                            .table = static_cast<TableKind>(response.table()),
                            .row_ids = ToVector(response.row_ids()),
                            .cosines = *std::move(cosines)};
}

absl::StatusOr<NearestTokens> FromProto(v1::NearestTokensResponse&& response) {
  const int count = response.ids_size();
  const bool has_tokens = response.tokens_size() > 0;
  if (response.scores_size() != count || (has_tokens && response.tokens_size() != count)) {
    return MakesNoSense("ids, tokens and scores differ in length");
  }
  NearestTokens result = {.model = response.model(),
                          .model_version = response.model_version(),
                          .table = static_cast<TableKind>(response.table())};
  int next = 0;
  for (const std::int64_t length : response.row_lengths()) {
    if (length < 0 || length > count - next) return MakesNoSense("row_lengths do not add up to the ids");
    std::vector<NearRow>& rows = result.queries.emplace_back();
    for (std::int64_t i = 0; i < length; ++i, ++next) {
      rows.push_back({.id = response.ids(next),
                      .token = has_tokens ? std::move(*response.mutable_tokens(next)) : "",
                      .score = response.scores(next)});
    }
  }
  if (next != count) return MakesNoSense("row_lengths do not add up to the ids");
  return result;
}

absl::StatusOr<PositionWavelengths> FromProto(v1::PositionWavelengthsResponse&& response) {
  if (response.frequencies_size() != response.wavelengths_size()) {
    return MakesNoSense("frequencies and wavelengths differ in length");
  }
  PositionWavelengths result = {.model = response.model(),
                                .model_version = response.model_version(),
                                .dim = response.dim(),
                                .base = response.base(),
                                .frequencies = ToVector(response.frequencies()),
                                .wavelengths = ToVector(response.wavelengths()),
                                .shortest = response.shortest(),
                                .longest = response.longest(),
                                .ratio = response.ratio(),
                                .full_turns = response.full_turns()};
  if (response.has_max_context_length()) result.max_context_length = response.max_context_length();
  return result;
}

absl::StatusOr<ShiftProperty> FromProto(v1::ShiftPropertyResponse&& response) {
  return ShiftProperty{.model = response.model(),
                       .model_version = response.model_version(),
                       .offset = response.offset(),
                       .rows = response.rows(),
                       .is_rotation = response.is_rotation(),
                       .max_residual = response.max_residual(),
                       .rms_residual = response.rms_residual(),
                       .worst_position = response.worst_position(),
                       .worst_column = response.worst_column()};
}

absl::StatusOr<CellExplanation> FromProto(v1::ExplainCellResponse&& response) {
  CellExplanation result = {.model = response.model(),
                            .model_version = response.model_version(),
                            .id = response.id(),
                            .token = response.token(),
                            .token_scale = response.token_scale(),
                            .token_values = ToVector(response.token_values()),
                            .scaled_values = ToVector(response.scaled_values()),
                            .token_type_values = ToVector(response.token_type_values()),
                            .position_values = ToVector(response.position_values()),
                            .sum = ToVector(response.sum()),
                            .position_before_type = response.position_before_type(),
                            .layer_norm_weight = ToVector(response.layer_norm_weight()),
                            .layer_norm_bias = ToVector(response.layer_norm_bias()),
                            .embedding = ToVector(response.embedding()),
                            .zeroed = response.zeroed()};
  if (response.has_token_row()) result.token_row = response.token_row();
  if (response.has_token_type()) result.token_type = response.token_type();
  if (response.has_position()) result.position = response.position();
  if (response.has_position_row()) result.position_row = response.position_row();
  if (response.has_layer_norm_mean()) result.layer_norm_mean = response.layer_norm_mean();
  if (response.has_layer_norm_variance()) result.layer_norm_variance = response.layer_norm_variance();
  if (response.has_layer_norm_eps()) result.layer_norm_eps = response.layer_norm_eps();
  const std::size_t dim = result.embedding.size();
  for (const auto* const values :
       {&result.token_values, &result.scaled_values, &result.token_type_values, &result.position_values, &result.sum,
        &result.layer_norm_weight, &result.layer_norm_bias}) {
    if (!values->empty() && values->size() != dim) return MakesNoSense("the cell's vectors differ in length");
  }
  return result;
}

}  // namespace embd::client
