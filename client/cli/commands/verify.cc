#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/embed_options.h"
#include "client/cli/commands/embedding_view.h"
#include "client/cli/commands/number_range.h"
#include "client/cli/commands/ulp_difference.h"
#include "client/cli/files/number_text.h"
#include "client/cli/files/tensor_file.h"
#include "client/cli/render/array_text.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMaxUlp = std::int64_t{1} << 32;

struct VerifyOptions {
  EmbedInput input;
  std::string against;
  std::string against_format;
  std::int64_t max_ulp = 0;
};

// A tensor that is expected, and whether its file keeps the last extent only.
struct Expected {
  Tensor tensor;
  bool in_lines = false;
};

absl::StatusOr<Expected> ReadExpected(const VerifyOptions& options, const Surroundings& world) {
  const absl::StatusOr<FileFormat> format = FormatOf(options.against, options.against_format, FileFormat::kJson);
  if (!format.ok()) return format.status();
  absl::StatusOr<Tensor> tensor = ReadTensor(options.against, *format, world.in);
  if (!tensor.ok()) return tensor.status();
  if (IsInteger(tensor->type) || tensor->type == DataType::kFloat64) {
    return absl::InvalidArgumentError(absl::StrCat(options.against, ": holds ", Name(tensor->type),
                                                   "; what is served is float32, float16 or bfloat16"));
  }
  return Expected{.tensor = *std::move(tensor), .in_lines = *format == FileFormat::kCsv || *format == FileFormat::kTxt};
}

// The served shape as the file would have it.
std::vector<std::int64_t> ShapeInFile(std::span<const std::int64_t> shape, bool in_lines) {
  std::vector<std::int64_t> result(shape.begin(), shape.end());
  if (!in_lines || result.size() != 3) return result;
  return {result[0] * result[1], result[2]};
}

std::vector<std::int64_t> CellAt(std::size_t index, std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> cell(shape.size());
  auto left = static_cast<std::int64_t>(index);
  for (std::size_t axis = shape.size(); axis-- > 0; left /= shape[axis]) cell[axis] = left % shape[axis];
  return cell;
}

std::string NumberAt(TensorView tensor, std::size_t index) {
  std::string text;
  AppendNumber(tensor, index, NonFinite::kPlain, text);
  return text;
}

// In the fewest digits that read back as the same value.
Json NumberJson(TensorView tensor, std::size_t index) {
  const double value{FloatAt(tensor, index)};
  return std::isfinite(value) ? Json::parse(NumberAt(tensor, index)) : Json(value);
}

Json ToJson(const VerifyOptions& options, const client::EmbedInfo& info, const UlpDifference& difference,
            TensorView served, TensorView expected) {
  Json result = {{"model", info.model},
                 {"model_version", info.model_version},
                 {"checksum", info.checksum},
                 {"against", options.against},
                 {"data_type", std::string(Name(served.type))},
                 {"shape", info.shape},
                 {"cells", difference.cells},
                 {"equal_cells", difference.equal},
                 {"nan_against_number", difference.one_nan},
                 {"largest_ulp", difference.largest},
                 {"max_ulp", options.max_ulp},
                 {"ok", difference.Within(static_cast<std::uint64_t>(options.max_ulp))},
                 {"first_difference", nullptr}};
  if (difference.first.has_value()) {
    const auto distance = UlpDistance(served, expected, *difference.first);
    result["first_difference"] = {{"cell", CellAt(*difference.first, served.shape)},
                                  {"served", NumberJson(served, *difference.first)},
                                  {"expected", NumberJson(expected, *difference.first)},
                                  {"ulp", distance.has_value() ? Json(*distance) : Json()}};
  }
  return result;
}

std::string ToText(const VerifyOptions& options, const UlpDifference& difference, TensorView served,
                   TensorView expected) {
  std::vector<std::pair<std::string, std::string>> fields = {
      {"compared", absl::StrCat(difference.cells, " cells of ", ShapeText(served.shape), " ", Name(served.type))},
      {"equal bit for bit", absl::StrCat(difference.equal)},
      {"largest difference", absl::StrCat(difference.largest, " ulp")}};
  if (difference.one_nan > 0) fields.emplace_back("nan against a number", absl::StrCat(difference.one_nan));
  if (difference.first.has_value()) {
    std::string cell;
    for (const std::int64_t index : CellAt(*difference.first, served.shape)) absl::StrAppend(&cell, "[", index, "]");
    fields.emplace_back("first difference",
                        absl::StrCat(cell, ": ", NumberAt(served, *difference.first), " served, ",
                                     NumberAt(expected, *difference.first), " in ", options.against));
  }
  return FieldsText(fields);
}

Outcome Differs(const std::string& message) {
  return {.code = ExitCode::kRefused, .message = message, .timed_out = false};
}

Outcome Report(const VerifyOptions& options, const client::Embedding& embedding, const Expected& expected,
               const Session& session) {
  const absl::StatusOr<TensorView> served = ViewOf(embedding);
  if (!served.ok()) return Refused(served.status());
  for (const std::string& warning : embedding.info().warnings) session.Note(absl::StrCat("warning: ", warning));
  const TensorView wanted = expected.tensor.view();
  if (ShapeInFile(served->shape, expected.in_lines) != expected.tensor.shape) {
    return Differs(absl::StrCat("served is ", ShapeText(served->shape), ", ", options.against, " holds ",
                                ShapeText(wanted.shape)));
  }
  const UlpDifference difference = CompareCells(*served, wanted);
  if (session.json) {
    session.PrintJson(ToJson(options, embedding.info(), difference, *served, wanted));
  } else {
    session.world.out << ToText(options, difference, *served, wanted);
  }
  if (difference.Within(static_cast<std::uint64_t>(options.max_ulp))) return {};
  return Differs(
      absl::StrCat("what is served differs from ", options.against, " by more than ", options.max_ulp, " ulp"));
}

Outcome RunVerify(VerifyOptions options, const Session& session) {
  if (options.against == "-" && options.input.InputReaders() > 0) {
    return WrongUsage(absl::InvalidArgumentError("standard input can be read for one option only"));
  }
  const absl::StatusOr<Expected> expected = ReadExpected(options, session.world);
  if (!expected.ok()) return WrongUsage(expected.status());
  const std::string type(Name(expected->tensor.type));
  if (options.input.dtype.empty()) options.input.dtype = type;
  if (options.input.dtype != type) {
    return WrongUsage(absl::InvalidArgumentError(absl::StrCat(
        "--dtype ", options.input.dtype, " cannot be compared with ", options.against, ", which holds ", type)));
  }
  absl::StatusOr<client::EmbedRequest> request = ReadRequest(options.input, session.world);
  if (!request.ok()) return WrongUsage(request.status());
  const absl::StatusOr<client::Embedding> embedding = Embed(options.input, session.client, *request);
  if (!embedding.ok()) return Refused(embedding.status());
  return Report(options, *embedding, *expected, session);
}

}  // namespace

void AddVerifyCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<VerifyOptions>();
  options->input.dtype.clear();
  CLI::App* const command = app.add_subcommand("verify", "Whether embeddings are those of a file, element by element");
  AddEmbedOptions(*command, options->input);
  AddDtypeOption(*command, options->input)
      ->description("Type of the elements: float32, float16 or bfloat16; that of the file if not said");
  CLI::Option* const against =
      command->add_option("--against", options->against, "The file; - for standard input, as JSON")
          ->required()
          ->type_name("F");
  command
      ->add_option("--against-format", options->against_format,
                   "The format of --against where its ending does not tell: npy, csv …")
      ->type_name("FORMAT")
      ->needs(against);
  command->add_option("--max-ulp", options->max_ulp, "How many representable values elements may lie apart")
      ->type_name("N")
      ->check(WholeNumberFrom(0, kMaxUlp))
      ->capture_default_str();
  command->footer(
      "Exit: 0 where no element differs by more than --max-ulp, 1 where one does or the shapes differ.\n"
      "NaN equals NaN; +0 and -0 are 0 ulp apart, but not equal bit for bit.\n"
      "Example: embdctl verify demo-learned --ids \"1 2 3; 4 5 6\" --against vectors.npy");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunVerify(*options, session); };
  });
}

}  // namespace embd::cli
