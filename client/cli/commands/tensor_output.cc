#include "client/cli/commands/tensor_output.h"

#include <CLI/CLI.hpp>
#include <ostream>

#include "client/cli/files/npy.h"
#include "client/cli/render/array_text.h"

namespace embd::cli {

void AddOutputOptions(CLI::App& command, TensorOutput& output) {
  CLI::Option* const out =
      command
          .add_option(
              "--out", output.out,
              "Write the tensor to F: .npy, .json, .jsonl, .csv, .txt or .safetensors; - for standard output, as JSON")
          ->type_name("F");
  command
      .add_option("--out-format", output.out_format, "The format of --out where its ending does not tell: npy, csv …")
      ->type_name("FORMAT")
      ->needs(out);
}

absl::StatusOr<std::optional<FileFormat>> CheckOutput(const TensorOutput& output, DataType type, bool json) {
  if (!output.out) return std::optional<FileFormat>();
  const absl::StatusOr<FileFormat> format = FormatOf(*output.out, output.out_format, FileFormat::kJson);
  if (!format.ok()) return format.status();
  if (json && *output.out == "-") {
    return absl::InvalidArgumentError("--out - and --output json both want standard output; leave one away");
  }
  if (*format == FileFormat::kNpy) {
    if (absl::Status status = CheckNpyHolds(type); !status.ok()) return status;
  }
  return std::optional(*format);
}

Outcome PutTensor(TensorView tensor, const std::string& name, nlohmann::ordered_json facts, const TensorOutput& output,
                  std::optional<FileFormat> format, const Session& session) {
  std::ostream& out = session.world.out;
  if (!format.has_value()) {
    if (session.json) {
      session.PrintJson(facts, name, tensor);
    } else {
      out << ArrayHeading(name, tensor) << '\n' << ArrayText(tensor) << '\n';
    }
    return {};
  }
  if (absl::Status status = WriteTensor(tensor, name, *output.out, *format, out); !status.ok()) {
    return WrongUsage(status);
  }
  if (session.json) {
    facts["out"] = *output.out;
    session.PrintJson(facts);
  } else if (*output.out != "-") {
    out << ArrayHeading(name, tensor) << " written to " << *output.out << '\n';
  }
  return {};
}

}  // namespace embd::cli
