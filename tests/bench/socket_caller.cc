#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/bench/caller.h"
#include "tests/bench/socket_protocol.h"

namespace embd::bench {
namespace {

class SocketCaller final : public Caller {
 public:
  SocketCaller(int socket, const LoadOptions& options) : Caller(options.TensorBytes()), socket_(socket) {
    const std::vector<std::int64_t> ids = options.Ids();
    const SocketRequest head = {.batch = static_cast<std::int32_t>(options.batch),
                                .tokens = static_cast<std::int32_t>(options.tokens),
                                .float16 = options.float16 ? 1 : 0};
    request_.resize(sizeof(head) + ids.size() * sizeof(std::int32_t));
    std::memcpy(request_.data(), &head, sizeof(head));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto id = static_cast<std::int32_t>(ids[i]);
      std::memcpy(request_.data() + sizeof(head) + i * sizeof(id), &id, sizeof(id));
    }
  }
  ~SocketCaller() override { close(socket_); }
  SocketCaller(const SocketCaller&) = delete;
  SocketCaller& operator=(const SocketCaller&) = delete;

  absl::Status Call(std::span<std::byte> out) override {
    std::uint64_t size = 0;
    if (!WriteAll(socket_, request_.data(), request_.size()) || !ReadAll(socket_, &size, sizeof(size))) {
      return absl::UnavailableError("the socket broke");
    }
    if (size != out.size()) return WrongSize(size, out.size());
    return ReadAll(socket_, out.data(), out.size()) ? absl::OkStatus() : absl::UnavailableError("the socket broke");
  }

 private:
  const int socket_;
  std::vector<std::byte> request_;
};

}  // namespace

MadeCaller MakeSocketCaller(const LoadOptions& options) {
  const std::size_t colon = options.address.rfind(':');
  sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  if (colon != std::string::npos) {
    address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(options.address.c_str() + colon + 1)));
  }
  const int connected = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(connected, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (connect(connected, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(connected);
    return absl::UnavailableError(absl::StrCat("nobody answers at ", options.address));
  }
  return std::make_unique<SocketCaller>(connected, options);
}

}  // namespace embd::bench
