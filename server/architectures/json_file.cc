#include "server/architectures/json_file.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/strings/str_cat.h"
#include "server/formats/file_error.h"
#include "server/formats/file_reader.h"
#include "server/formats/out_of_memory.h"

namespace embd::architectures {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 20;
constexpr int kMaxDepth = 64;

absl::StatusOr<nlohmann::json> Parse(const std::string& text) {
  bool too_deep = false;
  const auto watch = [&too_deep](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > kMaxDepth) too_deep = true;
    return !too_deep;
  };
  nlohmann::json value = nlohmann::json::parse(text, watch, /*allow_exceptions=*/false);
  if (too_deep) return formats::InvalidFile(absl::StrCat("is nested deeper than ", kMaxDepth, " levels"));
  if (value.is_discarded()) return formats::InvalidFile("is not JSON");
  return value;
}

absl::StatusOr<nlohmann::json> Read(const std::string& path) {
  const auto file = formats::FileReader::Open(path);
  if (!file.ok()) return file.status();
  if (file->size() > kMaxBytes) {
    return formats::InvalidFile(absl::StrCat("has ", file->size(), " bytes; at most ", kMaxBytes, " are read"));
  }
  std::string text(file->size(), '\0');
  if (absl::Status status = file->ReadAt(0, std::as_writable_bytes(std::span(text))); !status.ok()) return status;
  return Parse(text);
}

}  // namespace

absl::StatusOr<nlohmann::json> ReadJsonFile(const std::string& path) {
  return formats::CatchOutOfMemory(path, [&path]() -> absl::StatusOr<nlohmann::json> {
    auto value = Read(path);
    if (!value.ok()) return formats::AtPath(path, value.status());
    return value;
  });
}

}  // namespace embd::architectures
