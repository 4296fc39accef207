#include "server/config/read_output.h"

#include "absl/strings/str_cat.h"
#include "server/config/read_optional.h"
#include "server/config/read_rows.h"
#include "server/config/scalar_syntax.h"

namespace embd::config {
namespace {

std::optional<std::variant<Absent, double>> ReadSoftcap(MapReader& output) {
  const Node* node = output.Find("softcap");
  if (node == nullptr) return std::nullopt;
  const bool is_scalar = node->kind == Node::Kind::kScalar;
  if (is_scalar && node->text == "none") return Absent{};  // in quotes, too, as JSON writes it
  const auto softcap = is_scalar && !node->quoted ? ParseNumber(node->text) : std::nullopt;
  if (!softcap.has_value() || *softcap <= 0.0) {
    output.Report("softcap", absl::StrCat("must be none or a finite number > 0, got ", Found(*node)));
    return std::nullopt;
  }
  return *softcap;
}

std::optional<std::variant<Absent, TableFile>> ReadBias(MapReader& output, const std::string& folder, bool has_path) {
  if (!output.Has("bias")) return std::nullopt;
  auto bias = ReadMapOrNone(output, "bias", Section::kOutputBias, "file, tensor");
  if (!bias.has_value()) return Absent{};
  return ReadTableFile(*bias, folder, has_path ? "" : "file");
}

}  // namespace

void ReadOutput(MapReader& model, const std::string& folder, ModelConfig& out) {
  auto output = model.ReadMap("output", Section::kOutput);
  if (!output.has_value()) return;
  out.output.tied = ReadOptionalBool(*output, "tied");
  out.output.scale = ReadOptionalNumber(*output, "scale", kPositiveNumber);
  out.output.softcap = ReadSoftcap(*output);
  out.output.bias = ReadBias(*output, folder, model.Has("path"));
}

}  // namespace embd::config
