#include "server/app/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace embd::app {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

absl::Status Unreadable() {
  return absl::FailedPreconditionError(absl::StrCat("cannot be read: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<SecretFile> ReadSecretFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not make us wait
  if (file < 0) return Unreadable();
  const absl::Cleanup close_file = [file] { close(file); };
  struct stat found = {};
  if (fstat(file, &found) != 0) return Unreadable();
  if (!S_ISREG(found.st_mode)) return absl::FailedPreconditionError("is no file");
  SecretFile result{.text = std::string(kMaxBytes + 1, '\0'), .others_may_read = (found.st_mode & S_IROTH) != 0};
  std::size_t size = 0;
  while (size < result.text.size()) {
    const ssize_t got = read(file, result.text.data() + size, result.text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Unreadable();
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kMaxBytes) return absl::FailedPreconditionError("has more than 1 MiB");
  result.text.resize(size);
  return result;
}

}  // namespace embd::app
