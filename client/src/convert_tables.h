#ifndef EMBD_CLIENT_SRC_CONVERT_TABLES_H_
#define EMBD_CLIENT_SRC_CONVERT_TABLES_H_

#include "absl/status/statusor.h"
#include "embd/client/explain.h"
#include "embd/client/nearest.h"
#include "embd/client/positions.h"
#include "embd/client/statistics.h"
#include "embd/v1/diagnostics.pb.h"

// Between the structs of the library that look into tables and the messages on the wire. Requests are not checked.
// Replies whose lists do not fit together are INTERNAL.
namespace embd::client {

[[nodiscard]] v1::TableStatisticsRequest ToProto(const TableStatisticsRequest& request);
[[nodiscard]] v1::CosineSimilaritiesRequest ToProto(const CosineSimilaritiesRequest& request);
[[nodiscard]] v1::NearestTokensRequest ToProto(const NearestTokensRequest& request);
[[nodiscard]] v1::PositionWavelengthsRequest ToProto(const PositionWavelengthsRequest& request);
[[nodiscard]] v1::ShiftPropertyRequest ToProto(const ShiftPropertyRequest& request);
[[nodiscard]] v1::ExplainCellRequest ToProto(const ExplainCellRequest& request);

[[nodiscard]] absl::StatusOr<TableStatistics> FromProto(v1::TableStatisticsResponse&& response);
[[nodiscard]] absl::StatusOr<CosineSimilarities> FromProto(v1::CosineSimilaritiesResponse&& response);
[[nodiscard]] absl::StatusOr<NearestTokens> FromProto(v1::NearestTokensResponse&& response);
[[nodiscard]] absl::StatusOr<PositionWavelengths> FromProto(v1::PositionWavelengthsResponse&& response);
[[nodiscard]] absl::StatusOr<ShiftProperty> FromProto(v1::ShiftPropertyResponse&& response);
[[nodiscard]] absl::StatusOr<CellExplanation> FromProto(v1::ExplainCellResponse&& response);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_CONVERT_TABLES_H_
