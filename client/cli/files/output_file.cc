#include "client/cli/files/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace embd::cli {
namespace {

namespace fs = std::filesystem;

using WriteContent = std::function<absl::Status(std::ostream&)>;

absl::Status NotWritten(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("cannot be written: ", why));
}

// `mode` holds before a byte is written.
absl::Status WriteInPlace(const WriteContent& write, const std::string& path, std::optional<fs::perms> mode) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return NotWritten(std::strerror(errno));
  if (std::error_code error; mode.has_value()) {
    fs::permissions(path, *mode, error);
    if (error) return NotWritten(error.message());
  }
  if (absl::Status status = write(file); !status.ok()) return status;
  file.close();
  if (!file) return NotWritten(std::strerror(errno));
  return absl::OkStatus();
}

// Where symbolic links lead, also to what is not there yet.
absl::StatusOr<fs::path> Follow(fs::path path) {
  constexpr int kMaxLinks = 40;  // as the system does
  std::error_code error;
  for (int i = 0; i < kMaxLinks; ++i) {
    if (!fs::is_symlink(path, error)) return path;
    const fs::path link = fs::read_symlink(path, error);
    if (error) return NotWritten(error.message());
    path = path.parent_path() / link;
  }
  return NotWritten(std::strerror(ELOOP));
}

absl::Status WriteAndRename(const WriteContent& write, const std::string& path) {
  const absl::StatusOr<fs::path> target = Follow(path);
  if (!target.ok()) return target.status();
  std::error_code error;
  const fs::file_status old = fs::status(*target, error);
  const std::string temporary = absl::StrCat(target->string(), ".", getpid(), ".tmp");
  absl::Status status =
      WriteInPlace(write, temporary, fs::exists(old) ? std::optional(old.permissions()) : std::nullopt);
  if (status.ok()) {
    fs::rename(temporary, *target, error);
    if (error) status = NotWritten(error.message());
  }
  if (!status.ok()) fs::remove(temporary, error);
  return status;
}

}  // namespace

absl::Status WriteOutputFile(const std::string& path, const WriteContent& write) {
  std::error_code error;
  const fs::file_status kind = fs::status(path, error);
  const bool direct = fs::exists(kind) && !fs::is_regular_file(kind);
  const absl::Status status = direct ? WriteInPlace(write, path, std::nullopt) : WriteAndRename(write, path);
  return status.ok() ? status : absl::InvalidArgumentError(absl::StrCat(path, ": ", status.message()));
}

}  // namespace embd::cli
