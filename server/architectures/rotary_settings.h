#ifndef EMBD_SERVER_ARCHITECTURES_ROTARY_SETTINGS_H_
#define EMBD_SERVER_ARCHITECTURES_ROTARY_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/architectures/inferred_values.h"
#include "server/architectures/settings.h"
#include "server/config/server_config.h"

namespace embd::architectures {

/// What one architecture's rotary encoding is read from. Empty keys: the value is fixed.
struct RotaryKeys {
  absl::string_view theta_key = "rope_theta";
  double theta = 10000.0;  ///< where the key is absent
  absl::string_view partial_key = "partial_rotary_factor";
  double partial = 1.0;  ///< the share of head_dim that is turned, where the key is absent
  bool interleaved = false;
  bool yarn_is_longrope = false;     ///< files of this architecture say yarn where they mean longrope
  std::int64_t original_length = 0;  ///< original_max_position_embeddings where the key is absent; 0: not known
};

/// What of a rotary encoding the caller has already.
struct RotaryFacts {
  Sourced<std::int64_t> head_dim;
  Sourced<std::int64_t> max_position_embeddings;  ///< the length trained for
  std::string key;                                ///< where the values belong, e.g. "position.rotary"
  std::string architecture;                       ///< "model_type llama", the source of what is fixed
  bool skip_scaling = false;                      ///< scaling is given: the folder's is not looked at
};

/// Reads the encoding from `rope_scaling`, else `rope_parameters` (one object, or one a layer type), and keys beside
/// them. Newer names weigh more than older ones: an object's own `rope_theta` more than that of the top level,
/// `rope_type` more than `type`.
///
/// Reports an unknown type, a key that the type needs and that is missing, and a width that cannot be turned. Keys that
/// are not known are noted.
[[nodiscard]] config::RotaryPositions ReadRotary(const Settings& settings, const RotaryKeys& keys,
                                                 const RotaryFacts& facts, InferredValues* found, Fault* fault);

/// The same for architectures whose layers of full attention and of a sliding window have different encodings, with the
/// keys of each. The model's own values are those of full attention.
[[nodiscard]] config::RotaryPositions ReadLayeredRotary(const Settings& settings, const RotaryKeys& full,
                                                        const RotaryKeys& sliding, bool scaling_on_sliding,
                                                        const RotaryFacts& facts, InferredValues* found, Fault* fault);

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_ROTARY_SETTINGS_H_
