#include "server/config/read_model.h"

#include <array>

#include "server/config/names.h"
#include "server/config/read_layer_norm.h"
#include "server/config/read_optional.h"
#include "server/config/read_output.h"
#include "server/config/read_position.h"
#include "server/config/read_rows.h"
#include "server/config/read_token.h"
#include "server/config/read_token_type.h"

namespace embd::config {
namespace {

constexpr std::array<absl::string_view, 2> kSides = {"encoder", "decoder"};
constexpr std::array<absl::string_view, 2> kSumOrders = {"type_first", "position_first"};

void ReadName(MapReader& model, ModelConfig& out) {
  model.Require("name");
  model.ReadString("name", out.name);
  if (model.Has("name")) {
    if (const auto fault = FaultOfModelName(out.name); fault.has_value()) model.Report("name", *fault);
  }
  model.ReadString("version", out.version);
  if (const auto fault = FaultOfVersion(out.version); fault.has_value()) model.Report("version", *fault);
  model.ReadBool("required", out.required);
}

/// Reads path and side, which only a path can have.
void ReadPath(MapReader& model, const std::string& folder, ModelConfig& out) {
  if (model.Has("path")) {
    model.ReadString("path", out.path);
    out.path = InFolder(folder, out.path);
  }
  out.side = ReadOptionalEnum<Side>(model, "side", kSides);
  if (model.Has("side") && !model.Has("path")) model.Report("side", "needs path");
}

/// Reads the single values that tell how the rows are found and added.
void ReadRules(MapReader& model, ModelConfig& out) {
  out.padding_idx = ReadOptionalInteger(model, "padding_idx", IdsOf(out.token));
  out.sum_order = ReadOptionalEnum<SumOrder>(model, "sum_order", kSumOrders);
  out.zero_masked = ReadOptionalBool(model, "zero_masked");
  out.saturate = ReadOptionalBool(model, "saturate");
  out.trained_context_length = ReadOptionalInteger(model, "trained_context_length", {});
}

}  // namespace

ModelConfig ReadModel(MapReader& model, const std::string& folder) {
  ModelConfig out;
  ReadName(model, out);
  ReadPath(model, folder, out);
  ReadToken(model, folder, out);
  ReadRules(model, out);
  ReadTokenType(model, folder, out);
  ReadPosition(model, folder, out);
  ReadLayerNorm(model, folder, out);
  ReadOutput(model, folder, out);
  return out;
}

}  // namespace embd::config
