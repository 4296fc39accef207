#ifndef EMBD_CLIENT_FAKE_POSITION_BANDS_H_
#define EMBD_CLIENT_FAKE_POSITION_BANDS_H_

#include "absl/status/statusor.h"
#include "embd/client/fake_transport.h"
#include "embd/client/positions.h"

namespace embd::client::fake {

/// How fast bands turn: of a formula, of rotary parameters, or of `model`, which is null where none is named.
/// Sinusoidal models count as interleaved with base 10000.
///
/// Errors: as DiagnosticsService.PositionWavelengths.
[[nodiscard]] absl::StatusOr<PositionWavelengths> MeasureBands(const FakeModel* model,
                                                               const PositionWavelengthsRequest& request);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_POSITION_BANDS_H_
