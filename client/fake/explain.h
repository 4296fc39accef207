#ifndef EMBD_CLIENT_FAKE_EXPLAIN_H_
#define EMBD_CLIENT_FAKE_EXPLAIN_H_

#include "absl/status/statusor.h"
#include "embd/client/diagnostics.h"
#include "embd/client/explain.h"
#include "embd/client/fake_transport.h"

namespace embd::client::fake {

/// How one cell is composed. A limit of 0 is none.
///
/// Errors: as DiagnosticsService.ExplainCell.
[[nodiscard]] absl::StatusOr<CellExplanation> Explain(const FakeModel& model, const ExplainCellRequest& request,
                                                      const ServerLimits& limits);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_EXPLAIN_H_
