#ifndef EMBD_SERVER_APP_UNIX_SOCKET_H_
#define EMBD_SERVER_APP_UNIX_SOCKET_H_

#include <sys/stat.h>

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace embd::app {

/// The socket file of a unix: address. gRPC by itself removes whatever socket has the name: that of a running server
/// when it binds, and that of its successor when it stops. So it is given a name of its own beside the one that is
/// wanted, and the file is moved there once it is bound.
///
/// Ownership: movable, not copyable; removes its file at the end. Thread safety: for one thread at a time.
class UnixSocket {
 public:
  /// Looks whether `path` can be taken.
  ///
  /// Errors:
  ///   FAILED_PRECONDITION  [CANNOT_LISTEN] somebody serves there, there is something that is no socket, or the
  ///                        folder's path is so long that no name beside `path` can be bound.
  [[nodiscard]] static absl::StatusOr<UnixSocket> Claim(absl::string_view path);

  UnixSocket(UnixSocket&& other) noexcept;
  UnixSocket& operator=(UnixSocket&&) = delete;
  ~UnixSocket() { Remove(); }

  /// Where to bind: in the same folder, and no other process or claim binds there.
  [[nodiscard]] const std::string& temporary_path() const { return temporary_path_; }

  /// Moves the bound socket to `path`, in place of a dead one.
  ///
  /// Errors:
  ///   FAILED_PRECONDITION  [CANNOT_LISTEN] it cannot be moved; with the system's reason.
  [[nodiscard]] absl::Status Publish();

  /// Removes the file at `path` if it is the one that was published. May be called more than once.
  void Remove();

 private:
  explicit UnixSocket(absl::string_view path);

  std::string path_;
  std::string temporary_path_;
  std::optional<struct stat> published_;
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_UNIX_SOCKET_H_
