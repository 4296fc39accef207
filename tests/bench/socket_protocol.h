#ifndef EMBD_TESTS_BENCH_SOCKET_PROTOCOL_H_
#define EMBD_TESTS_BENCH_SOCKET_PROTOCOL_H_

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

// What socket_server and the load client say to each other: a SocketRequest and batch * tokens ids as int32, and back
// the reply's size as uint64 and the elements. In the machine's byte order; both ends are on one machine.
namespace embd::bench {

struct SocketRequest {
  std::int32_t batch = 0;
  std::int32_t tokens = 0;
  std::int32_t float16 = 0;  ///< 1: elements are float16, else float32
};

/// Reads exactly `size` bytes. False at the end of the stream or on an error.
inline bool ReadAll(int socket, void* to, std::size_t size) {
  auto* at = static_cast<std::byte*>(to);
  while (size > 0) {
    const ssize_t got = recv(socket, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

/// Writes all `size` bytes. False on an error.
inline bool WriteAll(int socket, const void* from, std::size_t size) {
  const auto* at = static_cast<const std::byte*>(from);
  while (size > 0) {
    const ssize_t put = send(socket, at, size, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

}  // namespace embd::bench

#endif  // EMBD_TESTS_BENCH_SOCKET_PROTOCOL_H_
