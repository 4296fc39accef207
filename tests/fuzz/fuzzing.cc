#include "tests/fuzz/fuzzing.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/table/checksum.h"

namespace embd::fuzz {
namespace {

constexpr std::size_t kMaxMessageBytes = 4096;
constexpr std::size_t kMaxTableBytes = std::size_t{64} << 20;

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

}  // namespace

void Fail(absl::string_view what) {
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

void CheckRefusal(const absl::Status& status, absl::string_view begin) {
  const std::string message(status.message());
  if (status.ok()) Fail("a refusal");
  if (core::ErrorReason(status).empty()) Fail(absl::StrCat("an error has a reason: ", status.ToString()));
  if (absl::IsInternal(status) || absl::IsUnknown(status)) Fail(absl::StrCat("no such code: ", status.ToString()));
  if (!absl::StartsWith(message, begin)) Fail(absl::StrCat("a message begins with ", begin, ": ", message));
  CheckText(message);
}

void CheckText(absl::string_view message) {
  if (message.size() > kMaxMessageBytes) Fail(absl::StrCat("a message has at most 4 KiB: ", message));
  if (core::ValidUtf8(message) != message) Fail(absl::StrCat("a message is UTF-8: ", message));
  if (std::any_of(message.begin(), message.end(), IsControl)) Fail(absl::StrCat("a message is text: ", message));
}

void CheckLoaded(const absl::StatusOr<formats::LoadedTable>& loaded, absl::string_view path) {
  if (!loaded.ok()) return CheckRefusal(loaded.status(), path);
  const core::Table& table = loaded->table;
  const auto bytes = core::TableBytes(table.rows(), table.dim(), table.element_type());
  if (!bytes.ok() || *bytes != table.bytes().size()) Fail("a table has the bytes of its shape");
  if (loaded->checksum != core::TableChecksum(table)) Fail("the checksum is the table's");
  const core::NanScan nans = core::ScanNan(table);
  if (loaded->nans.count != nans.count || loaded->nans.row != nans.row || loaded->nans.column != nans.column) {
    Fail("the NaNs are the table's");
  }
  if (loaded->vocabulary.has_value() && loaded->vocabulary->size() != table.rows()) Fail("a word for every row");
}

absl::StatusOr<formats::LoadedTable> Load(const formats::TableRequest& request) {
  formats::TableRequest bounded = request;
  bounded.reserve = [](std::size_t bytes) {
    return bytes <= kMaxTableBytes
               ? absl::OkStatus()
               : core::Error(absl::StatusCode::kResourceExhausted, "OUT_OF_MEMORY", "more than 64 MiB");
  };
  return formats::LoadTable(bounded);
}

InputFile::InputFile(const std::string& name, const std::string& folder) : folder_(folder) {
  if (folder_.empty()) {
    folder_ = std::filesystem::temp_directory_path() / "embd-fuzz-XXXXXX";
    if (mkdtemp(folder_.data()) == nullptr) Fail("a temporary folder can be made");
  }
  path_ = folder_ + "/" + name;
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0) Fail("a file can be made");
}

InputFile::~InputFile() {
  close(file_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void InputFile::Write(absl::string_view bytes, std::uint64_t zeros) {
  const bool written = ftruncate(file_, 0) == 0 &&
                       pwrite(file_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()) &&
                       ftruncate(file_, static_cast<off_t>(bytes.size() + zeros)) == 0;
  if (!written) Fail("a file can be written");
}

std::uint64_t Choices::Number(std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes && !bytes_.empty(); ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes_[0])} << (8 * i);
    bytes_.remove_prefix(1);
  }
  return number;
}

absl::string_view Choices::ShortText() {
  const std::uint64_t size = Number(1);
  const absl::string_view text = bytes_.substr(0, size);
  bytes_.remove_prefix(text.size());
  return text;
}

}  // namespace embd::fuzz
