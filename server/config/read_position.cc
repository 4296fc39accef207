#include "server/config/read_position.h"

#include <array>
#include <optional>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/config/read_numbering.h"
#include "server/config/read_optional.h"
#include "server/config/read_rotary.h"
#include "server/config/read_rows.h"
#include "server/config/read_sinusoidal.h"

namespace embd::config {
namespace {

/// What is known of the token table that the positions go with.
struct TokenFacts {
  std::int64_t width = 0;  ///< 0: not known yet
  std::uint64_t seed = 0;
};

constexpr std::array<absl::string_view, 4> kKinds = {"none", "learned", "sinusoidal", "rotary"};

void ReadContextLength(MapReader& table, const TokenFacts& token, std::int64_t& out) {
  table.Require("max_context_length");
  table.ReadInteger("max_context_length", {}, out);
  CheckTableSize(table, "max_context_length", out, token.width == 0 ? 1 : token.width);
}

LearnedPositions ReadLearned(MapReader& learned, const TokenFacts& token, const std::string& folder, bool has_path) {
  auto seeded = learned.ReadMap("seeded", Section::kSeededPositions);
  if (!seeded.has_value()) return {ReadTableFile(learned, folder, has_path ? "" : "file or seeded")};
  for (const absl::string_view key : kTableFileKeys) {
    if (learned.Has(key)) learned.Report(key, "does not go with seeded");
  }
  SeededPositions positions{.rows = {.seed = token.seed}};
  ReadContextLength(*seeded, token, positions.max_context_length);
  ReadSeededRows(*seeded, positions.rows);
  return {positions};
}

/// The kinds that are given: there must be one, or, with a path, none or one.
std::vector<absl::string_view> KindsOf(const MapReader& position) {
  std::vector<absl::string_view> kinds;
  for (const absl::string_view kind : kKinds) {
    if (position.Has(kind)) kinds.push_back(kind);
  }
  return kinds;
}

std::optional<Positions> ReadKind(MapReader& position, const TokenFacts& token, const std::string& folder,
                                  bool has_path) {
  const auto kinds = KindsOf(position);
  const bool may_be_inferred = has_path && (position.Has("numbering") || position.Has("row_offset"));
  if (kinds.empty() && may_be_inferred) return std::nullopt;
  if (kinds.size() != 1) {
    position.Report(absl::StrCat("must hold one of ", absl::StrJoin(kKinds, ", "), ", got ",
                                 kinds.empty() ? "none of them" : absl::StrJoin(kinds, " and ")));
    return std::nullopt;
  }
  if (auto learned = position.ReadMap("learned", Section::kLearned)) {
    return ReadLearned(*learned, token, folder, has_path);
  }
  if (auto sinusoidal = position.ReadMap("sinusoidal", Section::kSinusoidal)) {
    return ReadSinusoidal(*sinusoidal, token.width, has_path);
  }
  if (auto rotary = position.ReadMap("rotary", Section::kRotary)) return ReadRotary(*rotary, token.width);
  (void)position.ReadMap("none", Section::kNone);  // for its checks alone
  return NoPositions{};
}

}  // namespace

void ReadPosition(MapReader& model, const std::string& folder, ModelConfig& out) {
  if (!model.Has("position")) return;
  auto position = ReadMapOrNone(model, "position", Section::kPosition, "one of " + absl::StrJoin(kKinds, ", "));
  if (!position.has_value()) {
    out.position = NoPositions{};
    return;
  }
  TokenFacts facts;
  if (const auto* seeded = std::get_if<SeededTokens>(&out.token)) facts = {seeded->embedding_dim, seeded->rows.seed};
  out.position = ReadKind(*position, facts, folder, model.Has("path"));
  ReadNumbering(*position, out);
}

}  // namespace embd::config
