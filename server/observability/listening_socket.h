#ifndef EMBD_SERVER_OBSERVABILITY_LISTENING_SOCKET_H_
#define EMBD_SERVER_OBSERVABILITY_LISTENING_SOCKET_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace embd::observability {

/// A file descriptor that is closed at its end.
///
/// Ownership: movable, not copyable.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;  // -1: none
};

/// A TCP socket that takes connections, and does not block.
struct ListeningSocket {
  Descriptor descriptor;
  std::string address;  ///< with the real port in place of 0

  /// Binds HOST:PORT or [IPV6]:PORT; a name that has several addresses is bound at the first that can be.
  ///
  /// Errors: FAILED_PRECONDITION with the address and the system's reason.
  [[nodiscard]] static absl::StatusOr<ListeningSocket> Bind(const std::string& address);
};

}  // namespace embd::observability

#endif  // EMBD_SERVER_OBSERVABILITY_LISTENING_SOCKET_H_
