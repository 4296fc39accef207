#include "client/cli/commands/embed_input.h"

#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/files/row_text.h"
#include "client/cli/files/tensor_file.h"

namespace embd::cli {
namespace {

absl::StatusOr<Tensor> ReadInput(const EmbedInput& input, const Surroundings& world) {
  if (input.ids) {
    absl::StatusOr<Tensor> ids = ParseRows(*input.ids, DataType::kInt64);
    if (!ids.ok()) return absl::InvalidArgumentError(absl::StrCat("--ids: ", ids.status().message()));
    return ids;
  }
  const absl::StatusOr<FileFormat> format = FormatOf(*input.ids_file, input.ids_format, FileFormat::kJson);
  if (!format.ok()) return format.status();
  return ReadIds(*input.ids_file, *format, world.in);
}

absl::Status FillShape(const EmbedInput& input, client::EmbedRequest& request) {
  if (request.part != client::Part::kPosition) {
    return absl::InvalidArgumentError("give the ids with --ids, --ids-file or --tokens");
  }
  if (!input.sequence_length) {
    return absl::InvalidArgumentError("--part position needs --sequence-length, or ids that tell the shape");
  }
  request.batch_size = input.batch_size.value_or(1);
  request.sequence_length = *input.sequence_length;
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> EmbedInput::Words() const {
  return absl::StrSplit(tokens.value_or(""), absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
}

absl::Status FillFromArguments(const EmbedInput& input, const Surroundings& world, client::EmbedRequest& request) {
  if (!input.ids && !input.ids_file && !input.tokens) return FillShape(input, request);
  if (input.batch_size || input.sequence_length) {
    return absl::InvalidArgumentError("--batch-size and --sequence-length are for --part position without ids");
  }
  if (input.tokens) {
    if (input.Words().empty()) return absl::InvalidArgumentError("--tokens: no words found");
    return absl::OkStatus();
  }
  const absl::StatusOr<Tensor> ids = ReadInput(input, world);
  if (!ids.ok()) return ids.status();
  request.batch_size = ids->shape[0];
  request.sequence_length = ids->shape[1];
  request.ids.resize(ids->view().size());
  if (!request.ids.empty()) std::memcpy(request.ids.data(), ids->bytes.data(), ids->bytes.size());
  return absl::OkStatus();
}

}  // namespace embd::cli
