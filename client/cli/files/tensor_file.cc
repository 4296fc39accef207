#include "client/cli/files/tensor_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/files/file_element.h"
#include "client/cli/files/json_lists.h"
#include "client/cli/files/npy.h"
#include "client/cli/files/number_text.h"
#include "client/cli/files/output_file.h"
#include "client/cli/files/row_text.h"
#include "client/cli/files/safetensors.h"

namespace embd::cli {
namespace {

constexpr absl::string_view kStandard = "-";
constexpr std::array<std::pair<absl::string_view, FileFormat>, 6> kFormats = {
    {{"npy", FileFormat::kNpy},
     {"json", FileFormat::kJson},
     {"jsonl", FileFormat::kJsonl},
     {"csv", FileFormat::kCsv},
     {"txt", FileFormat::kTxt},
     {"safetensors", FileFormat::kSafetensors}}};

absl::Status PathError(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path == kStandard ? "standard input" : path, ": ", what));
}

absl::StatusOr<std::string> ReadAll(const std::string& path, std::istream& standard_input) {
  std::ostringstream content;
  if (path == kStandard) {
    content << standard_input.rdbuf();
    return std::move(content).str();
  }
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) return PathError(path, "is a folder");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return PathError(path, absl::StrCat("cannot be opened: ", std::strerror(errno)));
  content << file.rdbuf();
  if (file.bad()) return PathError(path, "cannot be read to its end");
  return std::move(content).str();
}

absl::StatusOr<Tensor> Parse(absl::string_view content, FileFormat format, absl::string_view name, DataType text_type) {
  switch (format) {
    case FileFormat::kNpy: return ParseNpy(content);
    case FileFormat::kJson: return ParseJsonLists(content, text_type);
    case FileFormat::kJsonl: return ParseJsonLines(content, text_type);
    case FileFormat::kCsv:
    case FileFormat::kTxt: return ParseRows(content, text_type);
    case FileFormat::kSafetensors: return ParseSafetensors(content, name);
  }
  return absl::InternalError("no such format");
}

absl::StatusOr<Tensor> Read(const std::string& path, FileFormat format, absl::string_view name, DataType text_type,
                            std::istream& standard_input) {
  const absl::StatusOr<std::string> content = ReadAll(path, standard_input);
  if (!content.ok()) return content.status();
  absl::StatusOr<Tensor> tensor = Parse(*content, format, name, text_type);
  if (!tensor.ok()) return PathError(path, tensor.status().message());
  return tensor;
}

absl::Status WriteTo(TensorView tensor, absl::string_view name, FileFormat format, std::ostream& out) {
  switch (format) {
    case FileFormat::kNpy: return WriteNpy(tensor, out);
    case FileFormat::kJson:
      WriteJsonLists(tensor, out);
      out << '\n';
      break;
    case FileFormat::kJsonl: WriteJsonLines(tensor, out); break;
    case FileFormat::kCsv: WriteRows(tensor, ',', out); break;
    case FileFormat::kTxt: WriteRows(tensor, ' ', out); break;
    case FileFormat::kSafetensors: WriteSafetensors(tensor, name, out); break;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FileFormat> FormatNamed(absl::string_view name) {
  const std::string lower = absl::AsciiStrToLower(name.substr(name.substr(0, 1) == "." ? 1 : 0));
  for (const auto& [known, format] : kFormats) {
    if (known == lower) return format;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(name), " is no file format; there are npy, json, jsonl, csv, txt and safetensors"));
}

absl::StatusOr<FileFormat> FormatOf(const std::string& path, absl::string_view name, FileFormat standard_format) {
  if (!name.empty()) return FormatNamed(name);
  if (path == kStandard) return standard_format;
  absl::StatusOr<FileFormat> format = FormatNamed(std::filesystem::path(path).extension().string());
  if (format.ok()) return format;
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": the ending tells the format, and none of .npy, .json, .jsonl, .csv, .txt, .safetensors is there"));
}

absl::StatusOr<Tensor> ReadIds(const std::string& path, FileFormat format, std::istream& standard_input) {
  absl::StatusOr<Tensor> ids = Read(path, format, "ids", DataType::kInt64, standard_input);
  if (!ids.ok()) return ids;
  if (!IsInteger(ids->type)) return PathError(path, absl::StrCat("ids are integers, not ", Name(ids->type)));
  if (ids->shape.size() == 1) ids->shape.insert(ids->shape.begin(), 1);
  if (ids->shape.size() != 2) {
    return PathError(path, absl::StrCat("ids have one or two extents, not ", ids->shape.size()));
  }
  if (ids->type == DataType::kInt32) {
    ids->bytes = WidenToInt64<std::int32_t>(
        absl::string_view(reinterpret_cast<const char*>(ids->bytes.data()), ids->bytes.size()));
    ids->type = DataType::kInt64;
  }
  return ids;
}

absl::StatusOr<UnevenRows> ReadUnevenRows(const std::string& path, FileFormat format, std::istream& standard_input) {
  if (format == FileFormat::kNpy || format == FileFormat::kSafetensors) {
    const absl::StatusOr<Tensor> even = ReadIds(path, format, standard_input);
    if (!even.ok()) return even.status();
    UnevenRows rows{.lengths = {}, .values = std::vector<std::int64_t>(even->view().size())};
    rows.lengths.assign(static_cast<std::size_t>(even->shape[0]), even->shape[1]);
    if (!rows.values.empty()) std::memcpy(rows.values.data(), even->bytes.data(), even->bytes.size());
    return rows;
  }
  const absl::StatusOr<std::string> content = ReadAll(path, standard_input);
  if (!content.ok()) return content.status();
  absl::StatusOr<UnevenRows> rows = format == FileFormat::kJson    ? ParseUnevenJson(*content)
                                    : format == FileFormat::kJsonl ? ParseUnevenJsonLines(*content)
                                                                   : ParseUnevenRows(*content);
  if (!rows.ok()) return PathError(path, rows.status().message());
  return rows;
}

absl::StatusOr<Tensor> ReadTensor(const std::string& path, FileFormat format, std::istream& standard_input) {
  return Read(path, format, "embeddings", DataType::kFloat32, standard_input);
}

absl::Status WriteTensor(TensorView tensor, absl::string_view name, const std::string& path, FileFormat format,
                         std::ostream& standard_output) {
  if (path == kStandard) {
    if (absl::Status status = WriteTo(tensor, name, format, standard_output); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("standard output: ", status.message()));
    }
    return absl::OkStatus();
  }
  return WriteOutputFile(path, [&](std::ostream& file) { return WriteTo(tensor, name, format, file); });
}

}  // namespace embd::cli
