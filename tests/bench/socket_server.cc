// The limit without chunks: a bare TCP socket, a thread a connection. Each request is composed by embd's own kernel
// into one buffer, which is then written. No gRPC, no messages, no limits.
//
//   socket_server      prints {"listen": [ADDRESS]} once it serves

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "server/core/kernels/compose.h"
#include "server/core/tensor/aligned_buffer.h"
#include "tests/bench/gpt2_sized.h"
#include "tests/bench/socket_protocol.h"

namespace embd::bench {
namespace {

// The size stands right before the elements, which begin at a cache line.
constexpr std::size_t kElementsAt = 64;

class Connection {
 public:
  Connection(int socket, const core::Model& model) : socket_(socket), model_(model) {}
  ~Connection() { close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Run() {
    SocketRequest request;
    while (ReadAll(socket_, &request, sizeof(request)) && Answer(request)) {
    }
  }

 private:
  bool Answer(const SocketRequest& request) {
    if (request.batch < 1 || request.tokens < 1 || request.tokens > kLength) return false;
    const std::size_t rows = static_cast<std::size_t>(request.batch) * static_cast<std::size_t>(request.tokens);
    ids_.resize(rows);
    if (!ReadAll(socket_, ids_.data(), rows * sizeof(std::int32_t)) || !FindRows(request.tokens)) return false;
    const std::uint64_t bytes = rows * kDim * (request.float16 == 1 ? sizeof(std::uint16_t) : sizeof(float));
    if (buffer_.size() < kElementsAt + bytes) buffer_ = core::AlignedBuffer::Allocate(kElementsAt + bytes).value();
    std::byte* const elements = buffer_.bytes().data() + kElementsAt;
    std::memcpy(elements - sizeof(bytes), &bytes, sizeof(bytes));
    core::Compose({.first = {.rows = token_rows_.data()},
                   .second = {.rows = position_rows_.data()},
                   .dim = kDim,
                   .row_count = rows,
                   .output_type = request.float16 == 1 ? core::ElementType::kFloat16 : core::ElementType::kFloat32,
                   .out = elements});
    return WriteAll(socket_, elements - sizeof(bytes), sizeof(bytes) + bytes);
  }

  bool FindRows(std::int32_t tokens) {
    token_rows_.resize(ids_.size());
    position_rows_.resize(ids_.size());
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (ids_[i] < 0 || ids_[i] >= kVocab) return false;
      token_rows_[i] = model_.token().table.row(ids_[i]);
      position_rows_[i] = model_.position()->table.row(static_cast<std::int64_t>(i) % tokens);
    }
    return true;
  }

  const int socket_;
  const core::Model& model_;
  std::vector<std::int32_t> ids_;
  std::vector<const std::byte*> token_rows_, position_rows_;
  core::AlignedBuffer buffer_;
};

int Serve() {
  const std::shared_ptr<const core::Model> model = Gpt2Sized();
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, generic, size) != 0 || listen(listener, 128) != 0 || getsockname(listener, generic, &size) != 0) {
    std::perror("socket_server");
    return 1;
  }
  std::printf("{\"listen\": [\"127.0.0.1:%d\"]}\n", ntohs(address.sin_port));
  std::fflush(stdout);
  while (true) {
    const int accepted = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0) continue;
    const int on = 1;
    setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    std::thread([accepted, model] { Connection(accepted, *model).Run(); }).detach();
  }
}

}  // namespace
}  // namespace embd::bench

int main() { return embd::bench::Serve(); }
