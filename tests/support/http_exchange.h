#ifndef EMBD_TESTS_SUPPORT_HTTP_EXCHANGE_H_
#define EMBD_TESTS_SUPPORT_HTTP_EXCHANGE_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace embd::testing {

/// A connection to 127.0.0.1:PORT, by hand. Reads give up after thirty seconds.
class RawConnection {
 public:
  explicit RawConnection(const std::string& address) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience = {.tv_sec = 30, .tv_usec = 0};
    if (setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
        connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
      std::abort();
    }
  }
  RawConnection(RawConnection&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  RawConnection& operator=(RawConnection&&) = delete;
  ~RawConnection() {
    if (socket_ >= 0) close(socket_);
  }

  void Send(absl::string_view bytes) { send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

  /// Whether the other side ends the connection without having sent anything.
  bool EndsWithoutAnswer() {
    char byte = 0;
    const ssize_t count = recv(socket_, &byte, 1, 0);
    return count == 0 || (count < 0 && errno == ECONNRESET);
  }

  /// Everything until the other side ends the connection; what came so far where it does not.
  std::string ReadToEnd() {
    std::string all;
    char bytes[4096];
    ssize_t count = 0;
    while ((count = recv(socket_, bytes, sizeof(bytes), 0)) > 0) all.append(bytes, static_cast<std::size_t>(count));
    return all;
  }

 private:
  int socket_;
};

/// The whole answer to one GET.
inline std::string HttpGet(const std::string& address, const std::string& path) {
  RawConnection connection(address);
  connection.Send("GET " + path + " HTTP/1.1\r\nHost: embd\r\n\r\n");
  return connection.ReadToEnd();
}

}  // namespace embd::testing

#endif  // EMBD_TESTS_SUPPORT_HTTP_EXCHANGE_H_
