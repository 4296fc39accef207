#ifndef EMBD_SERVER_CORE_POSITION_ROTARY_H_
#define EMBD_SERVER_CORE_POSITION_ROTARY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace embd::core {

/// Which two components of a vector turn together: i and i + d/2 (GPT-NeoX, Hugging Face), or 2i and 2i + 1 (GPT-J).
enum class RotaryPairing { kHalf, kInterleaved };

/// "half", "interleaved".
[[nodiscard]] absl::string_view RotaryPairingName(RotaryPairing pairing);

/// How the frequencies of a rotary encoding are changed for contexts longer than those trained on. The names are those
/// of Hugging Face's `rope_scaling`, and so is the meaning.
///
/// What each type needs, and what it takes besides (with its default):
///   default       nothing
///   linear, ntk   factor
///   dynamic       factor, max_position_embeddings
///   yarn          factor¹, original_max_position_embeddings²;
///                 attention_factor, beta_fast (32), beta_slow (1), mscale, mscale_all_dim, truncate (true)
///   longrope, su  short_factor, long_factor, factor¹ ³, original_max_position_embeddings²; attention_factor
///   llama3        factor, low_freq_factor, high_freq_factor, original_max_position_embeddings
///   proportional  nothing; factor (1)
///
/// ¹ or max_position_embeddings / original_max_position_embeddings, which for longrope goes before factor
/// ² or max_position_embeddings
/// ³ not with attention_factor
///
/// Fields that a type does not take are not looked at. 0 counts as unset for beta_fast, beta_slow, mscale and
/// mscale_all_dim.
struct RotaryScaling {
  std::string type;  ///< empty: default
  std::optional<double> factor;
  std::optional<std::int64_t> original_max_position_embeddings;
  std::optional<double> low_freq_factor;
  std::optional<double> high_freq_factor;
  std::optional<double> beta_fast;
  std::optional<double> beta_slow;
  std::optional<double> attention_factor;
  std::optional<double> mscale;
  std::optional<double> mscale_all_dim;
  std::optional<bool> truncate;
  std::optional<std::int64_t> max_position_embeddings;
  std::vector<double> short_factor;
  std::vector<double> long_factor;

  friend bool operator==(const RotaryScaling&, const RotaryScaling&) = default;
};

/// The parameters of a rotary encoding.
struct RotaryParameters {
  std::int64_t head_dim = 0;  ///< width of one vector
  /// How many leading components are turned; unset or 0: all. With `proportional` scaling all take part in the pairs,
  /// and this says how many of them have a frequency other than 0.
  std::optional<std::int64_t> rotary_dim;
  double theta = 10000.0;  ///< base of the wavelengths
  RotaryPairing pairing = RotaryPairing::kHalf;
  RotaryScaling scaling;

  friend bool operator==(const RotaryParameters&, const RotaryParameters&) = default;
};

/// The widest head, and the last position, that are served.
inline constexpr std::int64_t kMaxRotaryHeadDim = std::int64_t{1} << 20;
inline constexpr std::int64_t kMaxRotaryPosition = (std::int64_t{1} << 24) - 1;

/// What parameters come to: pair i of position p turns by the angle p · inv_freq[i], and its cosine and sine are
/// multiplied by attention_factor.
struct RotaryFrequencies {
  std::vector<double> inv_freq;  ///< one a pair; finite, >= 0
  double attention_factor = 1.0;
};

/// The components that stand in pairs: rotary_dim, or head_dim where that is unset, 0, or the scaling `proportional`.
[[nodiscard]] std::int64_t PairedDim(const RotaryParameters& parameters);

/// Whether the frequencies change with the length of a sequence: true for dynamic and longrope.
[[nodiscard]] bool DependsOnLength(const RotaryScaling& scaling);

/// The names of fields that are set although the type does not take them.
[[nodiscard]] std::vector<std::string> UnusedFields(const RotaryScaling& scaling);

/// Computes the frequencies, in double, for a sequence of `scaling_length` positions; only dynamic and longrope look at
/// it. Formulas: Hugging Face transformers, `modeling_rope_utils`. Cost: one power a pair.
///
/// Errors:
///   INVALID_ARGUMENT  [INVALID_OPTION] an unknown type (the message lists all), a field that is missing or impossible,
///                     lists of another length than one value a pair, or parameters whose frequencies or attention
///                     factor leave what a float32 can hold.
[[nodiscard]] absl::StatusOr<RotaryFrequencies> ResolveRotary(const RotaryParameters& parameters,
                                                              std::int64_t scaling_length);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_POSITION_ROTARY_H_
