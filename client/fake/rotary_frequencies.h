#ifndef EMBD_CLIENT_FAKE_ROTARY_FREQUENCIES_H_
#define EMBD_CLIENT_FAKE_ROTARY_FREQUENCIES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "embd/client/rotary.h"

namespace embd::client::fake {

/// What rotary parameters come to.
struct Frequencies {
  std::vector<double> per_pair;
  double attention_factor = 1.0;
};

/// The frequencies of a sequence of `length` positions, by the formulas of rotary.proto.
///
/// Errors:
///   INVALID_ARGUMENT  [INVALID_OPTION] as a server.
[[nodiscard]] absl::StatusOr<Frequencies> FrequenciesOf(const RotaryParameters& parameters, std::int64_t length);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_ROTARY_FREQUENCIES_H_
