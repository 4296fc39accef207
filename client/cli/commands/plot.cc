#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/number_range.h"
#include "client/cli/commands/plot_figure.h"
#include "client/cli/files/number_text.h"
#include "client/cli/files/output_file.h"
#include "client/cli/plot/picture.h"

namespace embd::cli {
namespace {

constexpr int kLeastSide = 120;
constexpr int kMostSide = 4096;
constexpr double kMostPixels = 8192;  // of a side of a .png

struct PlotOptions {
  std::vector<std::string> models;
  std::string what;
  std::string out;
  std::string size = "800x500";
  std::optional<std::int64_t> dpi;
  std::optional<std::int64_t> rows;
  std::optional<std::int64_t> max_offset;
  std::optional<std::string> table;
  std::optional<std::int64_t> bins;
  std::vector<std::int64_t> dims;
  std::optional<double> base;
};

struct SubjectName {
  const char* name;
  PlotSubject subject;
  bool takes_many;  // models
};
constexpr SubjectName kSubjects[] = {{"positions", PlotSubject::kPositions, false},
                                     {"similarity", PlotSubject::kSimilarity, true},
                                     {"wavelengths", PlotSubject::kWavelengths, true},
                                     {"norms", PlotSubject::kNorms, false},
                                     {"matrix", PlotSubject::kMatrix, false}};

const SubjectName& SubjectOf(const std::string& name) {  // the parser has checked it
  return *std::find_if(std::begin(kSubjects), std::end(kSubjects),
                       [&name](const SubjectName& each) { return each.name == name; });
}

absl::Status Misused(const std::string& message) { return absl::InvalidArgumentError(message); }

// That each option which is given means something for the subject.
absl::Status CheckOptionsFit(const PlotOptions& options) {
  const struct {
    bool given;
    const char* flag;
    std::vector<std::string> subjects;
  } uses[] = {{options.rows.has_value(), "--rows", {"positions", "matrix"}},
              {options.max_offset.has_value(), "--max-offset", {"similarity"}},
              {options.table.has_value(), "--table", {"similarity", "norms", "matrix"}},
              {options.bins.has_value(), "--bins", {"norms"}},
              {!options.dims.empty(), "--dim", {"wavelengths"}},
              {options.base.has_value(), "--base", {"wavelengths"}}};
  for (const auto& use : uses) {
    if (use.given && std::find(use.subjects.begin(), use.subjects.end(), options.what) == use.subjects.end()) {
      return Misused(absl::StrCat(use.flag, " means nothing for --what ", options.what));
    }
  }
  if (options.base && options.dims.empty()) return Misused("--base needs --dim: a model has a base of its own");
  return absl::OkStatus();
}

absl::Status CheckModels(const PlotOptions& options) {
  const std::size_t count = options.models.size() + options.dims.size();
  if (count == 0) {
    return Misused(absl::StrCat("--what ", options.what, " needs a MODEL",
                                options.what == "wavelengths" ? " or --dim" : "", ", see `embdctl models`"));
  }
  const std::size_t most = SubjectOf(options.what).takes_many ? plot::kMaxSeries : 1;
  if (count > most) {
    return Misused(absl::StrCat("--what ", options.what, " draws at most ", most, " in one picture, not ", count));
  }
  return absl::OkStatus();
}

absl::StatusOr<plot::PictureOptions> PictureOptionsOf(const PlotOptions& options) {
  plot::PictureOptions picture;
  const std::string ending = absl::AsciiStrToLower(std::filesystem::path(options.out).extension().string());
  if (ending != ".svg" && ending != ".png") {
    return Misused(absl::StrCat(options.out, ": the ending tells the format, and is neither .svg nor .png"));
  }
  picture.format = ending == ".svg" ? plot::PictureFormat::kSvg : plot::PictureFormat::kPng;
  const std::vector<std::string> sides = absl::StrSplit(options.size, 'x');
  int width = 0;
  int height = 0;
  const bool whole = sides.size() == 2 && absl::SimpleAtoi(sides[0], &width) && absl::SimpleAtoi(sides[1], &height);
  if (!whole || std::min(width, height) < kLeastSide || std::max(width, height) > kMostSide) {
    return Misused(absl::StrCat("--size: ", Quoted(options.size), " is not a WIDTHxHEIGHT such as 800x500, each in ",
                                kLeastSide, " to ", kMostSide));
  }
  picture.width = width;
  picture.height = height;
  if (options.dpi && picture.format == plot::PictureFormat::kSvg)
    return Misused("--dpi is for .png: .svg has no pixels");
  picture.dpi = static_cast<double>(options.dpi.value_or(static_cast<std::int64_t>(plot::kUnitsPerInch)));
  if (std::max(width, height) * picture.dpi / plot::kUnitsPerInch > kMostPixels) {
    return Misused(absl::StrCat("--size ", options.size, " at --dpi ", picture.dpi, " is more than ", kMostPixels,
                                " pixels wide or high"));
  }
  return picture;
}

PlotRequest RequestOf(const PlotOptions& options) {
  return {.subject = SubjectOf(options.what).subject,
          .models = options.models,
          .table = client::TableKindFromName(options.table.value_or("")).value_or(client::TableKind::kUnspecified),
          .rows = options.rows,
          .max_offset = options.max_offset.value_or(0),
          .bins = static_cast<std::int32_t>(options.bins.value_or(0)),
          .dims = options.dims,
          .base = options.base};
}

Outcome RunPlot(const PlotOptions& options, const Session& session) {
  if (absl::Status status = CheckOptionsFit(options); !status.ok()) return WrongUsage(status);
  if (absl::Status status = CheckModels(options); !status.ok()) return WrongUsage(status);
  const absl::StatusOr<plot::PictureOptions> picture = PictureOptionsOf(options);
  if (!picture.ok()) return WrongUsage(picture.status());
  if (!plot::CanDraw()) return WrongUsage(plot::Draw({}, *picture).status());

  const absl::StatusOr<plot::Figure> figure = FindFigure(session.client, RequestOf(options));
  if (!figure.ok()) return Refused(figure.status());
  const absl::StatusOr<std::string> bytes = plot::Draw(*figure, *picture);
  if (absl::IsInvalidArgument(bytes.status())) {
    return WrongUsage(Misused(absl::StrCat(bytes.status().message(), "; choose a larger --size")));
  }
  if (!bytes.ok()) return WrongUsage(bytes.status());
  const absl::Status written = WriteOutputFile(options.out, [&bytes](std::ostream& file) {
    file << *bytes;
    return absl::OkStatus();
  });
  if (!written.ok()) return WrongUsage(written);

  const std::string& title = plot::TitleOf(*figure);
  if (session.json) {
    session.PrintJson({{"what", options.what}, {"title", title}, {"out", options.out}, {"byte_size", bytes->size()}});
  } else {
    session.world.out << title << "; written to " << options.out << '\n';
  }
  return {};
}

void AddDataOptions(CLI::App& command, PlotOptions& options) {
  command
      .add_option(
          "--rows", options.rows,
          "Rows of positions and matrix; without it 128 of positions and 64 of a matrix, or fewer for a short table")
      ->type_name("N")
      ->check(WholeNumberFrom(1, kMaxPlottedRows));
  command.add_option("--max-offset", options.max_offset, "The largest k of similarity; without it 8, or fewer")
      ->type_name("K")
      ->check(WholeNumberFrom(1, 4096));
  command.add_option("--table", options.table, "Which table of similarity, norms and matrix")
      ->type_name("TABLE")
      ->check(CLI::IsMember({"token", "position", "token_type"}));
  command.add_option("--bins", options.bins, "Bars of norms; without it 20")
      ->type_name("N")
      ->check(WholeNumberFrom(1, 1024));
  command
      .add_option("--dim", options.dims,
                  "Wavelengths of the sinusoidal formula of D columns; may be given several times")
      ->type_name("D")
      ->allow_extra_args(false);
  command.add_option("--base", options.base, "Base of these formulas; without it 10000")->type_name("X");
}

}  // namespace

void AddPlotCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<PlotOptions>();
  CLI::App* const command = app.add_subcommand("plot", "Draw a table or a curve: a picture as .svg or .png");
  command->add_option("MODEL", options->models, "Names of models, see `embdctl models`")->type_name("");
  std::vector<std::string> subjects;
  for (const SubjectName& each : kSubjects) subjects.emplace_back(each.name);
  command
      ->add_option(
          "--what", options->what,
          "positions: rows as a heat map; similarity: rows k apart; wavelengths: of each band; norms: of rows; "
          "matrix: cosines of all pairs of rows")
      ->required()
      ->type_name("SUBJECT")
      ->check(CLI::IsMember(subjects));
  command->add_option("--out", options->out, "The picture: F.svg or F.png")->required()->type_name("F");
  AddDataOptions(*command, *options);
  command->add_option("--size", options->size, "Width and height, in pixels at 96 dpi")
      ->type_name("WxH")
      ->capture_default_str();
  command->add_option("--dpi", options->dpi, "Pixels an inch of a .png; without it 96")
      ->type_name("N")
      ->check(WholeNumberFrom(48, 600));
  command->footer(
      "similarity and wavelengths draw several models, or --dim, into one picture.\n"
      "Example: embdctl plot demo-learned demo-sinusoidal --what similarity --out curves.svg");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunPlot(*options, session); };
  });
}

}  // namespace embd::cli
