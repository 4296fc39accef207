#include "server/config/read_position.h"

#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/config/read_rotary.h"
#include "server/config/read_rows.h"

namespace embd::config {
namespace {

using Position = std::variant<NoPositions, LearnedPositions, SinusoidalPositions, RotaryPositions>;

/// What is known of the token table that the positions go with.
struct TokenFacts {
  std::int64_t width = 0;  ///< 0: not known yet
  std::uint64_t seed = 0;
};

constexpr NumberRange kPositiveNumber = {.min = 0.0, .max = std::numeric_limits<double>::max(), .above_min = true};

void CheckEvenWidth(MapReader& position, const TokenFacts& token, absl::string_view encoding) {
  if (token.width % 2 == 0) return;
  position.Report(absl::StrCat("embedding_dim must be even for ", encoding, ", got ", token.width));
}

void ReadContextLength(MapReader& table, const TokenFacts& token, std::int64_t& out) {
  table.Require("max_context_length");
  table.ReadInteger("max_context_length", {}, out);
  CheckTableSize(table, "max_context_length", out, token.width == 0 ? 1 : token.width);
}

LearnedPositions ReadLearned(MapReader& learned, const TokenFacts& token, const std::string& folder) {
  auto seeded = learned.ReadMap("seeded", Section::kSeededPositions);
  if (!seeded.has_value()) return {ReadTableFile(learned, folder)};
  for (const absl::string_view key : {"file", "tensor"}) {
    if (learned.Has(key)) learned.Report(key, "does not go with seeded");
  }
  SeededPositions positions{.rows = {.seed = token.seed}};
  ReadContextLength(*seeded, token, positions.max_context_length);
  ReadSeededRows(*seeded, positions.rows);
  return {positions};
}

SinusoidalPositions ReadSinusoidal(MapReader& sinusoidal, const TokenFacts& token) {
  SinusoidalPositions positions;
  ReadContextLength(sinusoidal, token, positions.max_context_length);
  sinusoidal.ReadNumber("base", kPositiveNumber, positions.base);
  CheckEvenWidth(sinusoidal, token, "sinusoidal");
  return positions;
}

/// The keys that are given: there must be one.
std::vector<absl::string_view> KindsOf(const MapReader& position) {
  std::vector<absl::string_view> kinds;
  for (const absl::string_view kind : KeysOf(Section::kPosition)) {
    if (position.Has(kind)) kinds.push_back(kind);
  }
  return kinds;
}

Position ReadKind(MapReader& position, const TokenFacts& token, const std::string& folder) {
  const auto kinds = KindsOf(position);
  if (kinds.size() != 1) {
    position.Report(absl::StrCat("must hold one of ", absl::StrJoin(KeysOf(Section::kPosition), ", "), ", got ",
                                 kinds.empty() ? "none of them" : absl::StrJoin(kinds, " and ")));
    return NoPositions{};
  }
  if (auto learned = position.ReadMap("learned", Section::kLearned)) return ReadLearned(*learned, token, folder);
  if (auto sinusoidal = position.ReadMap("sinusoidal", Section::kSinusoidal)) return ReadSinusoidal(*sinusoidal, token);
  if (auto rotary = position.ReadMap("rotary", Section::kRotary)) return ReadRotary(*rotary, token.width);
  (void)position.ReadMap("none", Section::kNone);  // for its checks alone
  return NoPositions{};
}

}  // namespace

Position ReadPosition(MapReader& model, const std::variant<TableFile, SeededTokens>& token, const std::string& folder) {
  const Node* node = model.Find("position");
  if (node == nullptr) return NoPositions{};
  if (node->kind != Node::Kind::kMap) {
    if (node->kind != Node::Kind::kScalar || node->text != "none") {
      model.Report("position", absl::StrCat("must be none, or a map of one of ",
                                            absl::StrJoin(KeysOf(Section::kPosition), ", "), ", got ", Found(*node)));
    }
    return NoPositions{};
  }
  TokenFacts facts;
  if (const auto* seeded = std::get_if<SeededTokens>(&token)) facts = {seeded->embedding_dim, seeded->rows.seed};
  MapReader position(*node, model.PathOf("position"), Section::kPosition, model.errors());
  return ReadKind(position, facts, folder);
}

}  // namespace embd::config
