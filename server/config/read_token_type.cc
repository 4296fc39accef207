#include "server/config/read_token_type.h"

#include <array>
#include <optional>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/config/read_optional.h"
#include "server/config/read_rows.h"

namespace embd::config {
namespace {

constexpr std::array<absl::string_view, 3> kSources = {"file", "seeded", "shared"};

SeededTokenTypes ReadSeededTypes(MapReader& seeded, const std::variant<TableFile, SeededTokens>& token) {
  SeededTokenTypes types;
  std::int64_t width = 1;
  if (const auto* tokens = std::get_if<SeededTokens>(&token)) {
    types.rows.seed = tokens->rows.seed;
    width = tokens->embedding_dim;
  }
  seeded.Require("type_vocab_size");
  seeded.ReadInteger("type_vocab_size", {}, types.type_vocab_size);
  CheckTableSize(seeded, "type_vocab_size", types.type_vocab_size, width);
  ReadSeededRows(seeded, types.rows);
  return types;
}

std::vector<absl::string_view> SourcesOf(const MapReader& types) {
  std::vector<absl::string_view> sources;
  for (const absl::string_view source : kSources) {
    if (types.Has(source)) sources.push_back(source);
  }
  return sources;
}

/// Reports what is not one source, or, with a path, not at most one.
void CheckSources(MapReader& types, bool has_path) {
  const auto sources = SourcesOf(types);
  if (sources.size() > 1 || (sources.empty() && !has_path)) {
    types.Report(absl::StrCat("must hold one of ", absl::StrJoin(kSources, ", "), ", got ",
                              sources.empty() ? "none of them" : absl::StrJoin(sources, " and ")));
  } else if (types.Has("tensor") && !sources.empty() && sources.front() != "file") {
    types.Report("tensor", absl::StrCat("does not go with ", sources.front()));
  }
}

}  // namespace

void ReadTokenType(MapReader& model, const std::string& folder, ModelConfig& out) {
  if (!model.Has("token_type")) return;
  auto types = ReadMapOrNone(model, "token_type", Section::kTokenType, "one of file, seeded, shared");
  if (!types.has_value()) {
    out.token_types = Absent{};
    return;
  }
  CheckSources(*types, model.Has("path"));
  TokenTypes read;
  if (auto seeded = types->ReadMap("seeded", Section::kSeededTokenTypes)) {
    read.source = ReadSeededTypes(*seeded, out.token);
  } else if (const auto shared = ReadOptionalBool(*types, "shared")) {
    if (!*shared) types->Report("shared", "must be true where it is given, got \"false\"");
    read.source = SharedTokenTypes{};
  } else {
    read.source = ReadTableFile(*types, folder, "");
  }
  const bool is_shared = std::holds_alternative<SharedTokenTypes>(read.source);
  read.only_when_sent = ReadOptionalBool(*types, "only_when_sent").value_or(is_shared);
  out.token_types = read;
}

}  // namespace embd::config
