#include "server/app/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <ctime>

#include "absl/strings/str_cat.h"

namespace embd::app {
namespace {

// systemd compares it with the time of its own signal, of the same clock.
std::int64_t MonotonicMicroseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000;
}

}  // namespace

void ServiceManager::Starting() const { Send("STATUS=loading models"); }

void ServiceManager::Ready() const { Send("READY=1\nSTATUS=serving"); }

void ServiceManager::Reloading() const {
  Send(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=", MonotonicMicroseconds(),
                    "\nSTATUS=reading the configuration again"));
}

void ServiceManager::Stopping() const { Send("STOPPING=1\nSTATUS=waiting for calls in flight"); }

void ServiceManager::Send(absl::string_view message) const {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const bool is_name = socket_.size() > 1 && (socket_[0] == '/' || socket_[0] == '@');
  if (!is_name || socket_.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  const int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (file < 0) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  sendto(file, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&address),
         length);
  close(file);
}

}  // namespace embd::app
