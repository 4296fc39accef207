#ifndef EMBD_CLIENT_FAKE_STATISTICS_H_
#define EMBD_CLIENT_FAKE_STATISTICS_H_

#include "absl/status/statusor.h"
#include "embd/client/fake_transport.h"
#include "embd/client/statistics.h"

// What a server would answer about the numbers of one model's table.
namespace embd::client::fake {

/// Errors: as DiagnosticsService.TableStatistics.
[[nodiscard]] absl::StatusOr<TableStatistics> ComputeStatistics(const FakeModel& model,
                                                                const TableStatisticsRequest& request);

/// Errors: as DiagnosticsService.CosineSimilarities.
[[nodiscard]] absl::StatusOr<CosineSimilarities> CompareRows(const FakeModel& model,
                                                             const CosineSimilaritiesRequest& request);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_STATISTICS_H_
