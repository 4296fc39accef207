#include "client/cli/files/safetensors.h"

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/files/file_element.h"
#include "client/cli/files/number_text.h"
#include "client/cli/files/parse_json.h"

namespace embd::cli {
namespace {

using Json = nlohmann::json;

absl::Status Invalid(absl::string_view what) { return absl::InvalidArgumentError(what); }

constexpr std::array kElements = {
    FileElement{"F32", 4, DataType::kFloat32, CopyElements},
    FileElement{"F16", 2, DataType::kFloat16, CopyElements},
    FileElement{"BF16", 2, DataType::kBFloat16, CopyElements},
    FileElement{"F64", 8, DataType::kFloat64, CopyElements},
    FileElement{"I32", 4, DataType::kInt32, CopyElements},
    FileElement{"I64", 8, DataType::kInt64, CopyElements},
    FileElement{"I8", 1, DataType::kInt64, WidenToInt64<std::int8_t>},
    FileElement{"U8", 1, DataType::kInt64, WidenToInt64<std::uint8_t>},
    FileElement{"I16", 2, DataType::kInt64, WidenToInt64<std::int16_t>},
    FileElement{"U16", 2, DataType::kInt64, WidenToInt64<std::uint16_t>},
    FileElement{"U32", 4, DataType::kInt64, WidenToInt64<std::uint32_t>},
};

// Splits off the header; what remains in `bytes` are the tensors' bytes.
absl::StatusOr<Json> TakeHeader(absl::string_view& bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof(length)) return Invalid("not a .safetensors file: shorter than its first field");
  std::memcpy(&length, bytes.data(), sizeof(length));
  bytes.remove_prefix(sizeof(length));
  if (length > bytes.size()) {
    return Invalid(
        absl::StrCat("not a .safetensors file, or cut off: a header of ", length, " bytes in ", bytes.size()));
  }
  Json header = ParseJson(bytes.substr(0, static_cast<std::size_t>(length)));
  if (!header.is_object()) return Invalid("the .safetensors header is no JSON object");
  bytes.remove_prefix(static_cast<std::size_t>(length));
  return header;
}

absl::StatusOr<std::string> ChooseName(const Json& header, absl::string_view wanted) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    if (wanted == name) return name;
    names.push_back(name);
  }
  if (names.size() == 1) return names.front();
  return Invalid(absl::StrCat("the file holds ", names.size(), " tensors, none of them named ", Quoted(wanted)));
}

// A list of whole numbers that are not negative, or nothing.
std::optional<std::vector<std::int64_t>> Extents(const Json& entry, const char* key) {
  const auto list = entry.find(key);
  if (list == entry.end() || !list->is_array()) return std::nullopt;
  std::vector<std::int64_t> extents;
  for (const Json& extent : *list) {
    if (!extent.is_number_unsigned() || extent.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return std::nullopt;
    extents.push_back(extent.get<std::int64_t>());
  }
  return extents;
}

}  // namespace

absl::StatusOr<Tensor> ParseSafetensors(absl::string_view bytes, absl::string_view name) {
  const absl::StatusOr<Json> header = TakeHeader(bytes);
  if (!header.ok()) return header.status();
  const absl::StatusOr<std::string> chosen = ChooseName(*header, name);
  if (!chosen.ok()) return chosen.status();

  const std::string tensor_name = absl::StrCat("tensor ", Quoted(*chosen));
  const Json& entry = header->at(*chosen);
  const std::optional<std::vector<std::int64_t>> shape = Extents(entry, "shape");
  const std::optional<std::vector<std::int64_t>> offsets = Extents(entry, "data_offsets");
  if (!shape || !offsets || offsets->size() != 2 || !entry.contains("dtype") || !entry["dtype"].is_string()) {
    return Invalid(absl::StrCat(tensor_name, " lacks a dtype, shape or data_offsets"));
  }
  const std::string type_name = entry["dtype"].get<std::string>();
  const FileElement* type = nullptr;
  for (const FileElement& known : kElements) {
    if (known.name == type_name) type = &known;
  }
  if (type == nullptr)
    return Invalid(absl::StrCat(tensor_name, " has elements of a type not taken: ", Quoted(type_name)));

  const auto begin = static_cast<std::size_t>(offsets->front());
  const auto end = static_cast<std::size_t>(offsets->back());
  const std::optional<std::int64_t> count = ElementCount(*shape);
  if (begin > end || end > bytes.size() || !count || (end - begin) % type->bytes != 0 ||
      (end - begin) / type->bytes != static_cast<std::size_t>(*count)) {
    return Invalid(absl::StrCat(tensor_name, " has data_offsets that do not fit its shape or the file"));
  }
  return Tensor{.type = type->type, .shape = *shape, .bytes = type->decode(bytes.substr(begin, end - begin))};
}

void WriteSafetensors(TensorView tensor, absl::string_view name, std::ostream& out) {
  absl::string_view type_name;
  for (const FileElement& element : kElements) {
    if (element.Writes(tensor.type)) type_name = element.name;
  }
  const Json entry = {{"dtype", std::string(type_name)},
                      {"shape", std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.end())},
                      {"data_offsets", {std::uint64_t{0}, std::uint64_t{tensor.bytes.size()}}}};
  std::string header = Json{{std::string(name), entry}}.dump();
  header.resize((header.size() + 7) / 8 * 8, ' ');  // readers map the file and want the elements aligned
  const std::uint64_t length = header.size();
  out.write(reinterpret_cast<const char*>(&length), sizeof(length));
  out << header;
  out.write(reinterpret_cast<const char*>(tensor.bytes.data()), static_cast<std::streamsize>(tensor.bytes.size()));
}

}  // namespace embd::cli
