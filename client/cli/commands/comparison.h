#ifndef EMBD_CLIENT_CLI_COMMANDS_COMPARISON_H_
#define EMBD_CLIENT_CLI_COMMANDS_COMPARISON_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "embd/client/client.h"

namespace embd::cli {

/// How many ids a row has unless said.
inline constexpr std::int64_t kComparedTokens = 32;

/// The longest call that is tried.
inline constexpr std::int64_t kLongestTrial = 1 << 24;

/// What two models are compared with.
struct ComparisonOptions {
  std::string models[2];
  std::int64_t batch_size = 4;
  std::optional<std::int64_t> sequence_length;  ///< else kComparedTokens, or fewer where a model has fewer positions
  std::uint64_t seed = 11;
  std::int64_t max_offset = 6;
};

/// What became of a call with that many positions.
struct LengthTrial {
  std::int64_t sequence_length = 0;
  bool tried = true;    ///< false for more than kLongestTrial positions
  std::string refusal;  ///< the server's text; empty where it answered
  std::string reason;   ///< the server's reason, likewise
};

/// What a server says to a question that older ones do not know: neither where it does not.
template <typename T>
struct Answer {
  std::optional<T> value = {};
  std::string refusal = {};  ///< the server's text
};

/// The statistics of one table.
struct TableFindings {
  client::TableKind kind = client::TableKind::kUnspecified;
  Answer<client::TableStatistics> statistics;
};

/// What was found out about one model.
struct ModelFindings {
  client::ModelDescription description;
  std::vector<std::int64_t> token_shape;
  std::vector<std::int64_t> composed_shape;
  std::optional<client::NeighbourCurve> curve;      ///< nothing without a position table of two rows
  std::vector<LengthTrial> trials;                  ///< none without a position table
  Answer<client::PositionWavelengths> wavelengths;  ///< of sinusoidal and rotary models
  Answer<client::ShiftProperty> shift;              ///< by one position, with a position table of two rows
  std::vector<TableFindings> tables;                ///< token and position

  /// The description of the model's table of that kind, or null.
  [[nodiscard]] const client::TableDescription* Table(client::TableKind kind) const;
};

struct Comparison {
  ComparisonOptions options;
  std::int64_t sequence_length = 0;  ///< of the calls that the shapes come from
  ModelFindings models[2];
};

/// Asks the server about both models: the shapes of real calls with ids drawn from the seed, below the smaller of the
/// two vocabularies; parameter counts; neighbour curves of the position tables; and whether calls of 64 positions, of
/// as many as the table has, and of one more are answered. The same seed draws the same ids everywhere. From servers
/// that know these calls also wavelengths, the residual of a shift by one position, and the statistics of the tables.
///
/// A call of a certain length that is refused with INVALID_ARGUMENT or RESOURCE_EXHAUSTED is a finding, no error: one
/// position too many, or more than the limits of the server let through. So is a table that is too large to be looked
/// into.
///
/// Errors: those of all other calls; where the shapes cannot be found, the message names --batch and --tokens.
[[nodiscard]] absl::StatusOr<Comparison> Compare(const client::Client& client, const ComparisonOptions& options);

/// The comparison for people to read.
[[nodiscard]] std::string ComparisonText(const Comparison& comparison);

/// The comparison as one JSON object.
[[nodiscard]] nlohmann::ordered_json ComparisonJson(const Comparison& comparison);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_COMPARISON_H_
