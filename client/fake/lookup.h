#ifndef EMBD_CLIENT_FAKE_LOOKUP_H_
#define EMBD_CLIENT_FAKE_LOOKUP_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "embd/client/diagnostics.h"
#include "embd/client/fake_transport.h"

// What a server would answer about one model.
namespace embd::client::fake {

[[nodiscard]] std::int64_t VocabSize(const FakeModel& model);
[[nodiscard]] std::int64_t PositionRows(const FakeModel& model);
[[nodiscard]] std::int64_t TypeRows(const FakeModel& model);
[[nodiscard]] bool HasLayerNorm(const FakeModel& model);

[[nodiscard]] ModelSummary Summarize(const FakeModel& model);
[[nodiscard]] ModelDescription Describe(const FakeModel& model);

/// Errors: as DiagnosticsService.LookUpTokens.
[[nodiscard]] absl::StatusOr<TokenIds> FindTokens(const FakeModel& model, const LookUpTokensRequest& request);

/// Errors: as DiagnosticsService.NeighbourSimilarity.
[[nodiscard]] absl::StatusOr<NeighbourCurve> CompareNeighbours(const FakeModel& model,
                                                               const NeighbourSimilarityRequest& request);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_LOOKUP_H_
