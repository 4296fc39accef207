#ifndef EMBD_SERVER_CONFIG_KEYS_H_
#define EMBD_SERVER_CONFIG_KEYS_H_

#include <span>
#include <string>

#include "absl/strings/string_view.h"

// The keys of the configuration file, all in one table. The reader refuses what is not in it, and docs/configuration.md
// describes what is.
namespace embd::config {

/// The maps that a file is made of.
enum class Section {
  kFile,
  kServer,
  kLimits,
  kConnections,
  kTls,
  kMetrics,
  kSharedMemory,
  kInference,
  kLog,
  kModel,
  kToken,
  kSeededTokens,
  kOutOfRange,
  kTokenType,
  kSeededTokenTypes,
  kLayerNorm,
  kLayerNormWeight,
  kLayerNormBias,
  kPosition,
  kNone,
  kLearned,
  kSeededPositions,
  kSinusoidal,
  kRotary,
  kRotaryScaling,
  kRotaryLayer,
  kOutput,
  kOutputBias,
};

/// The keys of one map.
struct SectionKeys {
  Section section;
  absl::string_view
      path;  ///< of the map, `[]` standing for any item of a list and NAME for any name; empty: the whole file
  std::span<const absl::string_view> keys;
};

/// All sections, in the order of the enum.
[[nodiscard]] std::span<const SectionKeys> Sections();

/// The allowed keys of a section, in the order in which they are described.
[[nodiscard]] std::span<const absl::string_view> KeysOf(Section section);

/// What is wrong with a key that `section` does not know: names the key, the nearest one that is allowed where there is
/// a near one, and all that are allowed.
[[nodiscard]] std::string UnknownKeyMessage(Section section, absl::string_view key);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_KEYS_H_
