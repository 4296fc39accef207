#include "server/config/read_model.h"

#include "absl/strings/str_cat.h"
#include "server/config/names.h"
#include "server/config/read_position.h"
#include "server/config/read_rows.h"

namespace embd::config {
namespace {

void ReadName(MapReader& model, ModelConfig& out) {
  model.Require("name");
  model.ReadString("name", out.name);
  if (model.Has("name")) {
    if (const auto fault = FaultOfModelName(out.name); fault.has_value()) model.Report("name", *fault);
  }
  model.ReadString("version", out.version);
  if (const auto fault = FaultOfVersion(out.version); fault.has_value()) model.Report("version", *fault);
}

SeededTokens ReadSeededTokens(MapReader& seeded) {
  SeededTokens tokens;
  seeded.Require("vocab_size");
  seeded.Require("embedding_dim");
  seeded.ReadInteger("vocab_size", {}, tokens.vocab_size);
  seeded.ReadInteger("embedding_dim", {}, tokens.embedding_dim);
  CheckTableSize(seeded, "vocab_size", tokens.vocab_size, tokens.embedding_dim);
  ReadSeededRows(seeded, tokens.rows);
  return tokens;
}

std::variant<TableFile, SeededTokens> ReadToken(MapReader& token, const std::string& folder) {
  auto seeded = token.ReadMap("seeded", Section::kSeededTokens);
  if (!seeded.has_value()) return ReadTableFile(token, folder);
  for (const absl::string_view key : {"file", "tensor", "vocabulary"}) {
    if (token.Has(key)) token.Report(key, "does not go with seeded");
  }
  return ReadSeededTokens(*seeded);
}

}  // namespace

ModelConfig ReadModel(MapReader& model, const std::string& folder) {
  ModelConfig out;
  ReadName(model, out);
  auto token = model.ReadMap("token", Section::kToken);
  if (token.has_value()) {
    out.token = ReadToken(*token, folder);
    if (model.Has("path")) model.Report("path", "does not go with token");
  } else if (model.Has("path")) {
    model.ReadString("path", out.path);
    out.path = InFolder(folder, out.path);
  } else {
    model.Report("token or path is missing");
  }
  out.position = ReadPosition(model, out.token, folder);
  return out;
}

}  // namespace embd::config
