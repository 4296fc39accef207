#include "server/service/region_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/core/error.h"

namespace embd::service {
namespace {

absl::Status Forbidden(const std::string& path, absl::string_view why) {
  return core::Error(absl::StatusCode::kPermissionDenied, "REGION_FORBIDDEN",
                     absl::StrCat("path ", core::Quote(path), " ", why));
}

absl::Status CannotMap(const std::string& path, absl::string_view why) {
  return core::InvalidArgument("CANNOT_MAP", absl::StrCat("file ", core::Quote(path), " ", why));
}

absl::Status CannotOpen(const std::string& path, int error) {
  if (error == ELOOP || error == ENOTDIR)
    return CannotMap(path, "is or goes through what is no folder or regular file");
  return CannotMap(path, absl::StrCat("cannot be opened: ", std::generic_category().message(error)));
}

absl::Status CheckPath(const std::string& prefix, const std::string& path) {
  if (!absl::StartsWith(path, prefix)) {
    return Forbidden(path, absl::StrCat("does not begin with ", core::Quote(prefix),
                                        ", as server.shared_memory.prefix of this server's configuration wants it"));
  }
  if (absl::StrContains(path, absl::string_view("\0", 1))) return Forbidden(path, "has a NUL byte");
  const std::vector<absl::string_view> components = absl::StrSplit(path, '/');
  for (std::size_t i = 1; i < components.size(); ++i) {  // the first one, before the first '/', is empty
    if (components[i].empty() || components[i] == "." || components[i] == "..") {
      return Forbidden(path, "has a component that is empty, \".\" or \"..\"");
    }
  }
  return absl::OkStatus();
}

// Opens what is behind `folder`, one component after the other, through no symbolic link; -1 with errno.
int OpenBelow(int folder, absl::string_view rest) {
  const std::vector<std::string> components = absl::StrSplit(rest, '/');
  for (std::size_t i = 0; i + 1 < components.size(); ++i) {
    const int next = openat(folder, components[i].c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int error = errno;
    close(folder);
    if (next < 0) {
      errno = error;
      return -1;
    }
    folder = next;
  }
  // Looked at before, since to open a device may do something; and not waited for, should it be another one by then.
  struct stat status {};
  int file = fstatat(folder, components.back().c_str(), &status, AT_SYMLINK_NOFOLLOW);
  if (file == 0 && !S_ISREG(status.st_mode)) {
    errno = ELOOP;
    file = -1;
  }
  if (file == 0) {
    file = openat(folder, components.back().c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  }
  const int error = errno;
  close(folder);
  errno = error;
  return file;
}

}  // namespace

absl::StatusOr<RegionFile> RegionFile::Open(const std::string& prefix, const std::string& path, std::int64_t end) {
  if (absl::Status status = CheckPath(prefix, path); !status.ok()) return status;
  const std::size_t folder_end = prefix.rfind('/') + 1;
  const int folder = open(prefix.substr(0, folder_end).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return CannotOpen(path, errno);
  RegionFile file(OpenBelow(folder, absl::string_view(path).substr(folder_end)));
  if (file.descriptor_ < 0) return CannotOpen(path, errno);
  struct stat status {};
  if (fstat(file.descriptor_, &status) != 0) return CannotOpen(path, errno);
  if (!S_ISREG(status.st_mode)) return CannotOpen(path, ELOOP);
  if (status.st_size < end) {
    return CannotMap(path, absl::StrCat("has ", status.st_size, " bytes; the region would end at ", end));
  }
  return file;
}

RegionFile::~RegionFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace embd::service
