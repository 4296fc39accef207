#ifndef EMBD_SERVER_APP_SERVICE_MANAGER_H_
#define EMBD_SERVER_APP_SERVICE_MANAGER_H_

#include <string>

#include "absl/strings/string_view.h"

namespace embd::app {

/// Tells the process that looks after this one, such as systemd, how it is: one datagram a message to the Unix socket
/// that NOTIFY_SOCKET names, as sd_notify(3) describes.
///
/// Nothing depends on it: where nobody listens, or the message cannot be sent at once, it is dropped.
/// Thread safety: thread-safe.
class ServiceManager {
 public:
  /// `socket` is a path, or a name behind "@" of the kernel's own; empty: there is nobody to tell.
  explicit ServiceManager(std::string socket) : socket_(std::move(socket)) {}

  void Starting() const;   ///< models are being loaded
  void Ready() const;      ///< at the start, and after Reloading
  void Reloading() const;  ///< until the next Ready
  void Stopping() const;   ///< calls in flight are awaited

 private:
  void Send(absl::string_view message) const;

  const std::string socket_;
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_SERVICE_MANAGER_H_
