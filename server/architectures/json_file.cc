#include "server/architectures/json_file.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/strings/str_cat.h"
#include "server/formats/file_error.h"
#include "server/formats/file_reader.h"
#include "server/formats/json_reader.h"
#include "server/formats/out_of_memory.h"

namespace embd::architectures {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 20;
constexpr int kMaxDepth = 64;

/// Takes any JSON that is not nested too deep.
class DepthLimit final : public formats::JsonHandler {
 public:
  bool start_object(std::size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool start_array(std::size_t) override { return Enter(); }
  bool end_array() override { return Leave(); }

 protected:
  bool Unexpected(absl::string_view) override { return true; }

 private:
  bool Enter() { return ++depth_ <= kMaxDepth || Fail(absl::StrCat("is nested deeper than ", kMaxDepth, " levels")); }
  bool Leave() {
    --depth_;
    return true;
  }

  int depth_ = 0;
};

// What the first pass lets through is JSON.
absl::StatusOr<nlohmann::json> Parse(const std::string& text) {
  DepthLimit limit;
  if (absl::Status status = formats::ParseJson(text, 0, limit); !status.ok()) return status;
  return nlohmann::json::parse(text);
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
