#include "server/config/read_layer_norm.h"

#include <optional>

#include "server/config/read_optional.h"
#include "server/config/read_rows.h"

namespace embd::config {
namespace {

std::optional<TableFile> ReadVector(MapReader& norm, absl::string_view key, Section section, const std::string& folder,
                                    bool has_path) {
  auto vector = norm.ReadMap(key, section);
  if (!vector.has_value()) return std::nullopt;
  return ReadTableFile(*vector, folder, has_path ? "" : "file");
}

}  // namespace

void ReadLayerNorm(MapReader& model, const std::string& folder, ModelConfig& out) {
  if (!model.Has("layer_norm")) return;
  auto norm = ReadMapOrNone(model, "layer_norm", Section::kLayerNorm, "weight, bias, eps");
  if (!norm.has_value()) {
    out.layer_norm = Absent{};
    return;
  }
  const bool has_path = model.Has("path");
  if (!norm->Has("weight")) {
    if (!has_path) norm->Report("weight is missing");
    if (norm->Has("bias")) norm->Report("bias", "needs weight");
    if (!norm->Has("eps")) norm->Report("weight or eps is missing");
  }
  LayerNorm read;
  read.weight = ReadVector(*norm, "weight", Section::kLayerNormWeight, folder, has_path);
  read.bias = ReadVector(*norm, "bias", Section::kLayerNormBias, folder, has_path);
  read.eps = ReadOptionalNumber(*norm, "eps", {.min = 0.0});
  out.layer_norm = read;
}

}  // namespace embd::config
