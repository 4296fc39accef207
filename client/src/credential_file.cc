#include "client/src/credential_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace embd::client {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

absl::Status Bad(absl::string_view option, const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(option, " \"", absl::Utf8SafeCHexEscape(path), "\" ", what));
}

}  // namespace

absl::StatusOr<std::string> ReadCredentialFile(absl::string_view option, const std::string& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) return Bad(option, path, "is no file");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (file == nullptr) return Bad(option, path, absl::StrCat("cannot be read: ", std::strerror(errno)));
  std::string text(kMaxBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return Bad(option, path, "cannot be read");
  if (text.size() > kMaxBytes) return Bad(option, path, "has more than 1 MiB");
  return text;
}

}  // namespace embd::client
