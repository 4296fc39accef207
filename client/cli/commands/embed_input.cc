#include "client/cli/commands/embed_input.h"

#include <cstring>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/commands/embedding_view.h"
#include "client/cli/commands/number_list.h"
#include "client/cli/files/row_text.h"
#include "client/cli/files/tensor_file.h"

namespace embd::cli {
namespace {

absl::Status Wrong(absl::string_view message) { return absl::InvalidArgumentError(message); }

bool GivesIds(const EmbedInput& input) { return input.ids || input.ids_file || input.tokens; }
bool IsRagged(const EmbedInput& input) { return input.lengths || !input.ragged.empty(); }

absl::Status CheckFlags(const EmbedInput& input) {
  if (!GivesIds(input) && !input.inputs_embeds && input.part != "position") {
    return Wrong("give the ids with --ids, --ids-file or --tokens, or vectors with --inputs-embeds");
  }
  if (GivesIds(input) && !IsRagged(input) && (input.batch_size || input.sequence_length)) {
    return Wrong("--batch-size and --sequence-length are for vectors, --part position without ids, and ragged rows");
  }
  if (!GivesIds(input) && !input.inputs_embeds && !input.sequence_length && !input.lengths) {
    return Wrong("--part position needs --sequence-length, or ids that tell the shape");
  }
  if (!GivesIds(input) && !input.ragged.empty() && !input.lengths) {
    return Wrong("--ragged needs ids in rows, or --lengths");
  }
  if (input.tokens && input.Words().empty()) return Wrong("--tokens: no words found");
  if (input.InputReaders() > 1) return Wrong("standard input can be read for one option only");
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ReadEvenIds(const EmbedInput& input, const Surroundings& world) {
  const std::string path =
      input.ids_file.value_or(input.ids.value_or("").substr(0, 1) == "@" ? input.ids->substr(1) : "");
  if (path.empty()) {
    absl::StatusOr<Tensor> ids = ParseRows(*input.ids, DataType::kInt64);
    if (!ids.ok()) return Wrong(absl::StrCat("--ids: ", ids.status().message()));
    return ids;
  }
  const absl::StatusOr<FileFormat> format = FormatOf(path, input.ids_format, FileFormat::kJson);
  if (!format.ok()) return format.status();
  return ReadIds(path, *format, world.in);
}

absl::StatusOr<UnevenRows> ReadUnevenIds(const EmbedInput& input, const Surroundings& world) {
  if (input.ids) return ReadNumberRows("--ids", *input.ids, world);
  const absl::StatusOr<FileFormat> format = FormatOf(*input.ids_file, input.ids_format, FileFormat::kJson);
  if (!format.ok()) return format.status();
  return ReadUnevenRows(*input.ids_file, *format, world.in);
}

absl::Status FillEvenIds(const EmbedInput& input, const Surroundings& world, client::EmbedRequest& request) {
  const absl::StatusOr<Tensor> ids = ReadEvenIds(input, world);
  if (!ids.ok()) {
    // Standard input cannot be read again to find out.
    const bool again = input.ids_file != "-" && input.ids != "@-";
    const bool uneven = again && ReadUnevenIds(input, world).ok();
    return Wrong(absl::StrCat(ids.status().message(), uneven ? "; --ragged takes rows of different lengths" : ""));
  }
  request.batch_size = ids->shape[0];
  request.sequence_length = ids->shape[1];
  request.ids.resize(ids->view().size());
  if (!request.ids.empty()) std::memcpy(request.ids.data(), ids->bytes.data(), ids->bytes.size());
  return absl::OkStatus();
}

absl::Status FillRaggedIds(const EmbedInput& input, const Surroundings& world, client::EmbedRequest& request) {
  absl::StatusOr<UnevenRows> rows = ReadUnevenIds(input, world);
  if (!rows.ok()) return rows.status();
  request.ids = std::move(rows->values);
  if (!input.lengths) request.row_lengths = std::move(rows->lengths);
  return absl::OkStatus();
}

// Of words, which become ids later.
void FillTokens(const EmbedInput& input, client::EmbedRequest& request) {
  request.ids.assign(input.Words().size(), 0);
  const auto count = static_cast<std::int64_t>(request.ids.size());
  if (!IsRagged(input)) {
    request.batch_size = 1;
    request.sequence_length = count;
  } else if (!input.lengths) {
    request.row_lengths = {count};
  }
}

absl::Status FillVectors(const EmbedInput& input, const Surroundings& world, client::EmbedRequest& request) {
  const absl::StatusOr<FileFormat> format = FormatOf(*input.inputs_embeds, "", FileFormat::kJson);
  if (!format.ok()) return format.status();
  absl::StatusOr<Tensor> tensor = ReadTensor(*input.inputs_embeds, *format, world.in);
  if (!tensor.ok()) return tensor.status();
  if (tensor->shape.size() == 2 && !IsRagged(input)) tensor->shape.insert(tensor->shape.begin(), 1);
  request.inputs_embeds = client::InputTensor{
      .data_type = WireTypeOf(tensor->type), .shape = std::move(tensor->shape), .bytes = std::move(tensor->bytes)};
  return absl::OkStatus();
}

absl::Status FillCells(const EmbedInput& input, const Surroundings& world, client::EmbedRequest& request) {
  if (input.batch_size) request.batch_size = *input.batch_size;
  if (input.sequence_length) request.sequence_length = *input.sequence_length;
  if (input.lengths) {
    absl::StatusOr<std::vector<std::int64_t>> lengths = ReadNumberList("--lengths", *input.lengths, world);
    if (!lengths.ok()) return lengths.status();
    request.row_lengths = *std::move(lengths);
  }
  if (input.inputs_embeds) {
    if (absl::Status status = FillVectors(input, world, request); !status.ok()) return status;
  }
  if (input.tokens) {
    FillTokens(input, request);
  } else if (input.ids || input.ids_file) {
    return IsRagged(input) ? FillRaggedIds(input, world, request) : FillEvenIds(input, world, request);
  } else if (!input.inputs_embeds && !IsRagged(input)) {
    request.batch_size = input.batch_size.value_or(1);
  }
  return absl::OkStatus();
}

// Rows are not sent as such, so that those of another shape than the batch's must be found here.
absl::Status CheckRows(const std::string& flag, const UnevenRows& rows, const client::EmbedRequest& request) {
  const auto& ragged = request.row_lengths;
  const bool by_vectors = request.inputs_embeds && request.inputs_embeds->shape.size() == 3;
  const std::int64_t even_rows = by_vectors ? request.inputs_embeds->shape[0] : request.batch_size;
  const std::int64_t tokens = by_vectors ? request.inputs_embeds->shape[1] : request.sequence_length;
  const std::int64_t count = ragged.empty() ? even_rows : static_cast<std::int64_t>(ragged.size());
  if (static_cast<std::int64_t>(rows.lengths.size()) != count) {
    return Wrong(absl::StrCat(flag, ": has ", rows.lengths.size(), " rows, the batch has ", count));
  }
  for (std::size_t i = 0; i < rows.lengths.size(); ++i) {
    const std::int64_t length = ragged.empty() ? tokens : ragged[i];
    if (rows.lengths[i] == length) continue;
    return Wrong(absl::StrCat(flag, ": row ", i, " has ", rows.lengths[i], rows.lengths[i] == 1 ? " value" : " values",
                              ", that of the batch has ", length));
  }
  return absl::OkStatus();
}

// Fills a list of one value a cell.
absl::Status FillList(const std::string& flag, const std::optional<std::string>& value, const Surroundings& world,
                      const client::EmbedRequest& request, std::vector<std::int64_t>& list) {
  if (!value) return absl::OkStatus();
  absl::StatusOr<UnevenRows> rows = ReadNumberRows(flag, *value, world);
  if (!rows.ok()) return rows.status();
  if (rows->lengths.size() > 1) {
    if (absl::Status status = CheckRows(flag, *rows, request); !status.ok()) return status;
  }
  list = std::move(rows->values);
  return absl::OkStatus();
}

absl::Status FillPositions(const EmbedInput& input, const Surroundings& world, client::EmbedRequest& request) {
  if (input.offset) request.position_offsets = {*input.offset};
  if (!input.offsets) return absl::OkStatus();
  absl::StatusOr<std::vector<std::int64_t>> offsets = ReadNumberList("--offsets", *input.offsets, world);
  if (!offsets.ok()) return offsets.status();
  request.position_offsets = *std::move(offsets);
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> EmbedInput::Words() const {
  return absl::StrSplit(tokens.value_or(""), absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
}

int EmbedInput::InputReaders() const {
  int readers = 0;
  for (const auto* const file : {&ids_file, &inputs_embeds}) readers += *file == "-" ? 1 : 0;
  for (const auto* const list : {&ids, &lengths, &offsets, &position_ids, &type_ids, &mask}) {
    readers += *list == "@-" ? 1 : 0;
  }
  return readers;
}

absl::StatusOr<client::EmbedRequest> ReadRequest(const EmbedInput& input, const Surroundings& world) {
  if (absl::Status status = CheckFlags(input); !status.ok()) return status;
  client::EmbedRequest request{
      .model = input.model,
      .part = client::PartFromName(input.part).value_or(client::Part::kComposed),
      .output_type = client::DataTypeFromName(input.dtype).value_or(client::DataType::kFloat32),
      .ragged_layout = client::RaggedLayoutFromName(input.ragged).value_or(client::RaggedLayout::kUnspecified),
      .padding_side = client::PaddingSideFromName(input.padding_side).value_or(client::PaddingSide::kUnspecified)};
  if (absl::Status status = FillCells(input, world, request); !status.ok()) return status;
  if (absl::Status status = FillPositions(input, world, request); !status.ok()) return status;
  for (const auto& [flag, value, list] : {std::tuple("--position-ids", &input.position_ids, &request.position_ids),
                                          {"--type-ids", &input.type_ids, &request.token_type_ids},
                                          {"--mask", &input.mask, &request.attention_mask}}) {
    if (absl::Status status = FillList(flag, *value, world, request, *list); !status.ok()) return status;
  }
  return request;
}

absl::StatusOr<client::Embedding> Embed(const EmbedInput& input, const client::Client& client,
                                        client::EmbedRequest& request) {
  if (input.tokens) {
    absl::StatusOr<client::TokenIds> found = client.LookUpTokens({.model = input.model, .tokens = input.Words()});
    if (!found.ok()) return found.status();
    request.ids = std::move(found->ids);
  }
  client::CallOptions options;
  if (input.chunks == "always") options.chunks = client::Chunks::kAlways;
  if (input.chunks == "never") options.chunks = client::Chunks::kNever;
  return client.Embed(request, options);
}

}  // namespace embd::cli
