#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/position_report.h"
#include "client/cli/commands/rotary_flags.h"
#include "client/cli/render/shown_rows.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Up to so many bands, all are shown.
constexpr std::size_t kShortList = 64;

struct WavelengthOptions {
  RotaryFlags rotary;
  std::vector<std::int64_t> dims;
  std::optional<double> base;
  std::string layout = "interleaved";
  bool all = false;
};

// One column: what is asked, and what it is called.
struct Encoding {
  std::string title;
  client::PositionWavelengthsRequest request;
  client::PositionWavelengths bands = {};
};

// The model or the rotary parameters first, then each width.
absl::StatusOr<std::vector<Encoding>> EncodingsOf(const WavelengthOptions& options) {
  const RotaryFlags& rotary = options.rotary;
  std::vector<Encoding> encodings;
  const bool rotary_given = rotary.head_dim || rotary.rotary_dim || rotary.theta || rotary.pairing || rotary.scaling ||
                            rotary.scaling_length || !rotary.layer_type.empty();
  if (!rotary.model.empty() || rotary_given) {
    auto parameters = ParametersOf(rotary);
    if (!parameters.ok()) return parameters.status();
    encodings.push_back({.title = rotary.model.empty() ? "rotary" : rotary.model,
                         .request = {.model = rotary.model,
                                     .layer_type = rotary.layer_type,
                                     .rotary = *std::move(parameters),
                                     .scaling_length = rotary.scaling_length}});
  }
  for (const std::int64_t dim : options.dims) {
    encodings.push_back(
        {.title = absl::StrCat("D ", dim),
         .request = {.sinusoidal = client::SinusoidalFormula{.embedding_dim = dim,
                                                             .base = options.base,
                                                             .tensor2tensor = options.layout == "tensor2tensor"}}});
  }
  if (encodings.empty()) return absl::InvalidArgumentError("name a model, or give --dim or --head-dim");
  return encodings;
}

std::string ToText(const std::vector<Encoding>& encodings, bool all) {
  Rows summary;
  std::vector<Column> columns = {{"band", kRight}};
  std::size_t count = 0;
  for (const auto& [title, request, bands] : encodings) {
    summary.push_back({title, absl::StrCat(bands.wavelengths.size()), WavelengthText(bands.base),
                       WavelengthText(bands.shortest), WavelengthText(bands.longest), WavelengthText(bands.ratio),
                       FullTurnsText(bands)});
    columns.push_back({title, kRight});
    count = std::max(count, bands.wavelengths.size());
  }
  const Rows rows = ShownRows(count, all || count <= kShortList, [&encodings](std::size_t i) {
    std::vector<std::string> row = {absl::StrCat(i)};
    for (const Encoding& encoding : encodings) {
      const std::vector<double>& wavelengths = encoding.bands.wavelengths;
      row.push_back(i < wavelengths.size() ? WavelengthText(wavelengths[i]) : "-");
    }
    return row;
  });
  return absl::StrCat("wavelengths: positions a turn; each is the one before times the ratio, unless they are scaled\n",
                      TableText({{""},
                                 {"bands", kRight},
                                 {"base", kRight},
                                 {"shortest", kRight},
                                 {"longest", kRight},
                                 {"ratio", kRight},
                                 {"whole turns"}},
                                summary),
                      "\n", TableText(columns, rows));
}

Outcome RunWavelengths(const WavelengthOptions& options, const Session& session) {
  auto encodings = EncodingsOf(options);
  if (!encodings.ok()) return WrongUsage(encodings.status());
  nlohmann::ordered_json json = {{"encodings", nlohmann::ordered_json::array()}};
  for (Encoding& encoding : *encodings) {
    auto bands = session.client.PositionWavelengths(encoding.request);
    if (!bands.ok()) return Refused(bands.status());
    encoding.bands = *std::move(bands);
    json["encodings"].push_back(ToJson(encoding.bands));
  }
  if (session.json) {
    session.PrintJson(json);
  } else {
    session.world.out << ToText(*encodings, options.all);
  }
  return {};
}

}  // namespace

void AddWavelengthsCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<WavelengthOptions>();
  CLI::App* const command =
      app.add_subcommand("wavelengths", "How fast the bands of position encodings turn, side by side");
  AddRotaryFlags(*command, options->rotary);
  command->get_option("MODEL")->description("Name of a model with sinusoidal or rotary positions");
  CLI::Option* const dim =
      command->add_option("--dim", options->dims, "Width of a sinusoidal formula; more than once for several")
          ->type_name("D")
          ->expected(1)
          ->take_all();
  command->add_option("--base", options->base, "Base of the formulas; 10000 if not said")->type_name("X")->needs(dim);
  command->add_option("--layout", options->layout, "Layout of the formulas: interleaved, half or tensor2tensor")
      ->type_name("LAYOUT")
      ->check(CLI::IsMember({"interleaved", "half", "tensor2tensor"}))
      ->needs(dim)
      ->capture_default_str();
  command->add_flag("--all", options->all, absl::StrCat("Show all bands where there are more than ", kShortList));
  command->footer(
      "The first pair of columns turns fastest, the last one slowest.\n"
      "Examples: embdctl wavelengths demo-sinusoidal\n"
      "          embdctl wavelengths --dim 64 --dim 32\n"
      "          embdctl wavelengths --head-dim 128 --theta 500000 --scaling type=linear,factor=8");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunWavelengths(*options, session); };
  });
}

}  // namespace embd::cli
