#include "server/app/unix_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::app {
namespace {

constexpr std::size_t kMaxPathBytes = sizeof(sockaddr_un::sun_path) - 1;

absl::Status CannotListen(absl::string_view path, absl::string_view why) {
  return core::Error(absl::StatusCode::kFailedPrecondition, "CANNOT_LISTEN",
                     absl::StrCat("cannot listen on ", core::Quote(absl::StrCat("unix:", path)), ": ", why));
}

// Whether a server accepts connections at `path`.
bool IsServed(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() > kMaxPathBytes) return false;  // nobody can be there
  std::memcpy(address.sun_path, path.data(), path.size());
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) return false;
  const bool connected = connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const bool busy = !connected && errno == EAGAIN;  // it is there, with a full queue
  close(file);
  return connected || busy;
}

}  // namespace

absl::StatusOr<UnixSocket> UnixSocket::Claim(absl::string_view path) {
  UnixSocket claimed(path);
  if (const std::size_t size = claimed.temporary_path_.size(); size > kMaxPathBytes) {
    return CannotListen(path, absl::StrCat("the name beside it that is bound first would have ", size,
                                           " bytes; at most ", kMaxPathBytes, " are allowed"));
  }
  struct stat found = {};
  if (stat(claimed.path_.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode)) {
    return CannotListen(path, "there is a file that is no socket");
  }
  if (IsServed(claimed.path_)) return CannotListen(path, "it is in use");
  return claimed;
}

UnixSocket::UnixSocket(absl::string_view path) : path_(path) {
  static std::atomic<int> count = 0;
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path_.substr(0, slash + 1);
  temporary_path_ = absl::StrCat(folder, ".", getpid(), "-", count.fetch_add(1));
}

UnixSocket::UnixSocket(UnixSocket&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_path_(std::move(other.temporary_path_)),
      published_(std::exchange(other.published_, std::nullopt)) {}

absl::Status UnixSocket::Publish() {
  struct stat bound = {};
  if (lstat(temporary_path_.c_str(), &bound) != 0 || std::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    return CannotListen(path_, std::strerror(errno));
  }
  published_ = bound;
  return absl::OkStatus();
}

void UnixSocket::Remove() {
  const auto published = std::exchange(published_, std::nullopt);
  struct stat found = {};
  if (!published.has_value() || lstat(path_.c_str(), &found) != 0) return;
  if (found.st_dev == published->st_dev && found.st_ino == published->st_ino) unlink(path_.c_str());
}

}  // namespace embd::app
