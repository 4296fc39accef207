#include "server/observability/http_endpoint.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <new>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/observability/listening_socket.h"

namespace embd::observability {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPauseWithoutDescriptors{100};

// One connection, from its acceptance to its end.
struct Connection {
  enum class State { kReading, kWriting, kEnding };

  Descriptor socket;
  Clock::time_point end;  // when it is given up
  State state = State::kReading;
  std::string received;
  std::string answer;
  std::size_t sent = 0;

  // Whether it goes on, after `poll` has said that it can.
  bool Advance(const std::map<std::string, HttpEndpoint::Page>& pages);

 private:
  bool Read(const std::map<std::string, HttpEndpoint::Page>& pages);
  bool Write();
};

std::string AnswerTo(const HttpRequest& request, const std::map<std::string, HttpEndpoint::Page>& pages) {
  HttpAnswer answer;
  const auto page = pages.find(request.path);
  if (request.refusal.has_value()) {
    answer.status = *request.refusal;
  } else if (page == pages.end()) {
    answer.status = 404;
  } else {
    try {
      answer = page->second();
    } catch (const std::bad_alloc&) {
      answer = {.status = 503, .body = "out of memory\n"};
    }
  }
  if (answer.body.empty()) answer.body = absl::StrCat(HttpReason(answer.status), "\n");
  return EncodeHttpAnswer(answer, request.is_head);
}

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

bool Connection::Advance(const std::map<std::string, HttpEndpoint::Page>& pages) {
  switch (state) {
    case State::kReading: return Read(pages);
    case State::kWriting: return Write();
    case State::kEnding: {  // what comes after the answer is not looked at, but closing on it would lose the answer
      char rest[4096];
      const ssize_t count = recv(socket.number(), rest, sizeof(rest), 0);
      return count > 0 || (count < 0 && WouldBlock());
    }
  }
  return false;
}

bool Connection::Read(const std::map<std::string, HttpEndpoint::Page>& pages) {
  char bytes[4096];
  const ssize_t count = recv(socket.number(), bytes, sizeof(bytes), 0);
  if (count == 0) return false;
  if (count < 0) return WouldBlock();
  received.append(bytes, static_cast<std::size_t>(count));
  const std::optional<HttpRequest> request = ParseHttpRequest(received);
  if (!request.has_value()) return true;
  answer = AnswerTo(*request, pages);
  state = State::kWriting;
  return Write();
}

bool Connection::Write() {
  while (sent < answer.size()) {
    const ssize_t count = send(socket.number(), answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
    if (count < 0) return WouldBlock();
    sent += static_cast<std::size_t>(count);
  }
  shutdown(socket.number(), SHUT_WR);
  state = State::kEnding;
  return true;
}

class Endpoint final : public HttpEndpoint {
 public:
  Endpoint(std::vector<ListeningSocket> listeners, Descriptor stop, std::map<std::string, Page> pages)
      : listeners_(std::move(listeners)), stop_(std::move(stop)), pages_(std::move(pages)) {
    for (const ListeningSocket& listener : listeners_) addresses_.push_back(listener.address);
    thread_ = std::thread([this] { Run(); });
  }

  ~Endpoint() override {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(stop_.number(), &one, sizeof(one));
    thread_.join();
  }

  const std::vector<std::string>& addresses() const override { return addresses_; }

 private:
  void Run() {
    std::vector<pollfd> waited;
    while (true) {
      Await(&waited);
      if (waited[0].revents != 0) return;
      // The connections first: those that are accepted now are behind those that were waited for.
      const Clock::time_point now = Clock::now();
      auto polled = waited.begin() + 1 + static_cast<std::ptrdiff_t>(listeners_.size());
      std::erase_if(connections_, [&](Connection& each) {
        const bool ready = (polled++)->revents != 0;
        return now >= each.end || (ready && !AdvanceWithinMemory(each));
      });
      for (std::size_t i = 0; i < listeners_.size(); ++i) {
        if (waited[i + 1].revents != 0) Accept(listeners_[i]);
      }
    }
  }

  bool AdvanceWithinMemory(Connection& connection) {
    try {
      return connection.Advance(pages_);
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  // Waits for something to do: the end first, then each listener, then each connection.
  void Await(std::vector<pollfd>* waited) {
    const Clock::time_point now = Clock::now();
    const bool accepts = now >= accept_again_;
    Clock::time_point until = accepts ? Clock::time_point::max() : accept_again_;
    waited->clear();
    waited->push_back({.fd = stop_.number(), .events = POLLIN, .revents = 0});
    for (const ListeningSocket& listener : listeners_) {
      waited->push_back({.fd = accepts ? listener.descriptor.number() : -1, .events = POLLIN, .revents = 0});
    }
    for (const Connection& each : connections_) {
      const bool writes = each.state == Connection::State::kWriting;
      const auto events = static_cast<std::int16_t>(writes ? POLLOUT : POLLIN);
      waited->push_back({.fd = each.socket.number(), .events = events, .revents = 0});
      until = std::min(until, each.end);
    }
    int timeout_ms = -1;
    if (until != Clock::time_point::max()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
      timeout_ms = static_cast<int>(std::max<std::int64_t>(0, left.count()));
    }
    if (poll(waited->data(), waited->size(), timeout_ms) < 0) {
      for (pollfd& each : *waited) each.revents = 0;
    }
  }

  void Accept(const ListeningSocket& listener) {
    Descriptor socket(accept4(listener.descriptor.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.number() < 0) {
      // Out of descriptors: the one that is waiting stays there, and asking at once would find it again.
      if (!WouldBlock() && errno != ECONNABORTED) accept_again_ = Clock::now() + kPauseWithoutDescriptors;
      return;
    }
    if (connections_.size() >= kMaxConnections) connections_.pop_front();
    Connection connection;
    connection.socket = std::move(socket);
    connection.end = Clock::now() + kMaxConnectionTime;
    connections_.push_back(std::move(connection));
  }

  const std::vector<ListeningSocket> listeners_;
  const Descriptor stop_;  // readable once the thread must end
  const std::map<std::string, Page> pages_;
  std::vector<std::string> addresses_;
  std::deque<Connection> connections_;  // the thread's own; the oldest is first
  Clock::time_point accept_again_ = Clock::time_point::min();
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpEndpoint>> HttpEndpoint::Start(const std::vector<std::string>& addresses,
                                                                  std::map<std::string, Page> pages) {
  std::vector<ListeningSocket> listeners;
  for (const std::string& address : addresses) {
    auto listener = ListeningSocket::Bind(address);
    if (!listener.ok()) return listener.status();
    listeners.push_back(*std::move(listener));
  }
  Descriptor stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (stop.number() < 0) return absl::FailedPreconditionError("there are no file descriptors left");
  return std::make_unique<Endpoint>(std::move(listeners), std::move(stop), std::move(pages));
}

}  // namespace embd::observability
