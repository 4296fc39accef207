#include "server/observability/listening_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace embd::observability {
namespace {

constexpr int kBacklog = 64;

absl::Status CannotListen(const std::string& address, const char* reason) {
  return absl::FailedPreconditionError(absl::StrCat("cannot listen on \"", address, "\": ", reason));
}

// Returns -1, with errno, where it cannot be bound.
Descriptor Listen(const addrinfo& place) {
  Descriptor descriptor(socket(place.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;  // a server that starts again need not wait for the connections of the one before
  if (descriptor.number() < 0 || setsockopt(descriptor.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      bind(descriptor.number(), place.ai_addr, place.ai_addrlen) != 0 || listen(descriptor.number(), kBacklog) != 0) {
    return Descriptor();
  }
  return descriptor;
}

int PortOf(const Descriptor& descriptor) {
  sockaddr_storage bound = {};
  socklen_t length = sizeof(bound);
  if (getsockname(descriptor.number(), reinterpret_cast<sockaddr*>(&bound), &length) != 0) return 0;
  if (bound.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

absl::StatusOr<ListeningSocket> ListeningSocket::Bind(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return CannotListen(address, "it has no port");
  absl::string_view host = absl::string_view(address).substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) host = absl::StripSuffix(host, "]");
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(std::string(host).c_str(), address.c_str() + colon + 1, &hints, &found); code != 0) {
    return CannotListen(address, gai_strerror(code));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> places(found, &freeaddrinfo);
  for (const addrinfo* place = found; place != nullptr; place = place->ai_next) {
    Descriptor descriptor = Listen(*place);
    if (descriptor.number() < 0) continue;
    std::string bound = absl::StrCat(address.substr(0, colon), ":", PortOf(descriptor));
    return ListeningSocket{std::move(descriptor), std::move(bound)};
  }
  return CannotListen(address, std::strerror(errno));
}

}  // namespace embd::observability
