#include "server/config/keys.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/config/config_error.h"

namespace embd::config {
namespace {

using Key = absl::string_view;

constexpr std::array<Key, 2> kFileKeys = {"server", "models"};
constexpr auto kServerKeys =
    std::to_array<Key>({"listen", "tls", "tokens", "insecure", "limits", "connections", "metrics", "shared_memory",
                        "model_control", "inference", "drain_delay", "drain_timeout", "ready_file", "log"});
constexpr auto kLimitsKeys = std::to_array<Key>(
    {"max_request_bytes", "max_response_bytes", "max_batch_size", "max_sequence_length", "max_bytes_in_flight",
     "max_request_bytes_in_flight", "max_concurrent_calls", "max_concurrent_streams", "max_stall"});
constexpr auto kConnectionsKeys = std::to_array<Key>({"keepalive_time", "keepalive_timeout", "min_ping_interval",
                                                      "handshake_timeout", "max_idle", "max_age", "max_age_grace"});
constexpr auto kTlsKeys = std::to_array<Key>({"certificate", "key", "client_ca", "min_version"});
constexpr auto kMetricsKeys = std::to_array<Key>({"listen"});
constexpr std::array<Key, 3> kSharedMemoryKeys = {"prefix", "max_regions", "max_bytes"};
constexpr std::array<Key, 2> kInferenceKeys = {"name", "output_datatype"};
constexpr std::array<Key, 3> kLogKeys = {"level", "format", "access_sample"};
constexpr std::array<Key, 15> kModelKeys = {
    "name",     "version",    "required",    "path",      "side",        "token",    "token_type",
    "position", "layer_norm", "padding_idx", "sum_order", "zero_masked", "saturate", "trained_context_length",
    "output"};
constexpr std::array<Key, 13> kTokenKeys = {
    "file", "tensor", "vocabulary", "dtype",          "shape",        "offset",         "mmap",
    "nan",  "seeded", "scale",      "scale_rounding", "out_of_range", "dropout_mask_id"};
constexpr std::array<Key, 5> kSeededTokensKeys = {"vocab_size", "embedding_dim", "mean", "std", "seed"};
constexpr std::array<Key, 1> kOutOfRangeKeys = {"unk"};
constexpr std::array<Key, 5> kTokenTypeKeys = {"file", "tensor", "seeded", "shared", "only_when_sent"};
constexpr std::array<Key, 4> kSeededTokenTypesKeys = {"type_vocab_size", "mean", "std", "seed"};
constexpr std::array<Key, 3> kLayerNormKeys = {"weight", "bias", "eps"};
constexpr std::array<Key, 4> kOutputKeys = {"tied", "scale", "softcap", "bias"};
constexpr std::array<Key, 2> kVectorKeys = {"file", "tensor"};
constexpr std::array<Key, 6> kPositionKeys = {"none", "learned", "sinusoidal", "rotary", "numbering", "row_offset"};
constexpr std::array<Key, 8> kLearnedKeys = {"file", "tensor", "dtype", "shape", "offset", "mmap", "nan", "seeded"};
constexpr std::array<Key, 4> kSeededPositionsKeys = {"max_context_length", "mean", "std", "seed"};
constexpr std::array<Key, 4> kSinusoidalKeys = {"max_context_length", "base", "layout", "grow_to"};
constexpr std::array<Key, 6> kRotaryKeys = {"theta", "head_dim", "rotary_dim", "pairing", "scaling", "layer_types"};
constexpr std::array<Key, 15> kRotaryScalingKeys = {"type",
                                                    "rope_type",
                                                    "factor",
                                                    "original_max_position_embeddings",
                                                    "max_position_embeddings",
                                                    "low_freq_factor",
                                                    "high_freq_factor",
                                                    "beta_fast",
                                                    "beta_slow",
                                                    "attention_factor",
                                                    "mscale",
                                                    "mscale_all_dim",
                                                    "truncate",
                                                    "short_factor",
                                                    "long_factor"};
constexpr std::array<Key, 5> kRotaryLayerKeys = {"theta", "head_dim", "rotary_dim", "pairing", "scaling"};

constexpr auto kSections = std::to_array<SectionKeys>({
    {Section::kFile, "", kFileKeys},
    {Section::kServer, "server", kServerKeys},
    {Section::kLimits, "server.limits", kLimitsKeys},
    {Section::kConnections, "server.connections", kConnectionsKeys},
    {Section::kTls, "server.tls", kTlsKeys},
    {Section::kMetrics, "server.metrics", kMetricsKeys},
    {Section::kSharedMemory, "server.shared_memory", kSharedMemoryKeys},
    {Section::kInference, "server.inference", kInferenceKeys},
    {Section::kLog, "server.log", kLogKeys},
    {Section::kModel, "models[]", kModelKeys},
    {Section::kToken, "models[].token", kTokenKeys},
    {Section::kSeededTokens, "models[].token.seeded", kSeededTokensKeys},
    {Section::kOutOfRange, "models[].token.out_of_range", kOutOfRangeKeys},
    {Section::kTokenType, "models[].token_type", kTokenTypeKeys},
    {Section::kSeededTokenTypes, "models[].token_type.seeded", kSeededTokenTypesKeys},
    {Section::kLayerNorm, "models[].layer_norm", kLayerNormKeys},
    {Section::kLayerNormWeight, "models[].layer_norm.weight", kVectorKeys},
    {Section::kLayerNormBias, "models[].layer_norm.bias", kVectorKeys},
    {Section::kPosition, "models[].position", kPositionKeys},
    {Section::kNone, "models[].position.none", {}},
    {Section::kLearned, "models[].position.learned", kLearnedKeys},
    {Section::kSeededPositions, "models[].position.learned.seeded", kSeededPositionsKeys},
    {Section::kSinusoidal, "models[].position.sinusoidal", kSinusoidalKeys},
    {Section::kRotary, "models[].position.rotary", kRotaryKeys},
    {Section::kRotaryScaling, "models[].position.rotary.scaling", kRotaryScalingKeys},
    {Section::kRotaryLayer, "models[].position.rotary.layer_types.NAME", kRotaryLayerKeys},
    {Section::kOutput, "models[].output", kOutputKeys},
    {Section::kOutputBias, "models[].output.bias", kVectorKeys},
});

/// How many letters must be put in, taken out or exchanged to get from one word to the other.
std::size_t EditDistance(Key from, Key to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t exchanged = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({exchanged, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[to.size()];
}

/// The key within a third of its letters of `key`, or nothing ("").
Key NearestKey(std::span<const Key> allowed, Key key) {
  constexpr std::size_t kLongestWorthComparing = 64;
  if (allowed.empty() || key.size() > kLongestWorthComparing) return "";
  const Key nearest = *std::min_element(allowed.begin(), allowed.end(),
                                        [key](Key a, Key b) { return EditDistance(key, a) < EditDistance(key, b); });
  return EditDistance(key, nearest) <= std::max<std::size_t>(1, nearest.size() / 3) ? nearest : "";
}

}  // namespace

std::span<const SectionKeys> Sections() { return kSections; }

std::span<const absl::string_view> KeysOf(Section section) { return kSections[static_cast<std::size_t>(section)].keys; }

std::string UnknownKeyMessage(Section section, absl::string_view key) {
  const std::span<const Key> allowed = KeysOf(section);
  const Key nearest = NearestKey(allowed, key);
  const std::string hint = nearest.empty() ? ";" : absl::StrCat("; did you mean ", nearest, "?");
  const std::string list = allowed.empty() ? "no key is allowed here" : "allowed: " + absl::StrJoin(allowed, ", ");
  return absl::StrCat("unknown key ", Quote(key), hint, " ", list);
}

}  // namespace embd::config
