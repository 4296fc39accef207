#include "address.h"

#include <arpa/inet.h>

#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace embd::client {
namespace {

constexpr absl::string_view kSchemes[] = {"unix:", "unix-abstract:", "dns:", "ipv4:", "ipv6:"};

struct HostPort {
  std::string host;  // without brackets
  std::string port;
  bool bracketed = false;
};

absl::Status Refuse(absl::string_view address, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("address \"", absl::CHexEscape(address.substr(0, 128)), "\" ", why));
}

bool IsPort(absl::string_view text) {
  int port = 0;
  return absl::SimpleAtoi(text, &port) && port >= 1 && port <= 65535;
}

bool IsIp(int family, const std::string& host) {
  in6_addr parsed;  // the larger of the two
  return inet_pton(family, host.c_str(), &parsed) == 1;
}

absl::StatusOr<HostPort> Split(absl::string_view address) {
  HostPort result;
  absl::string_view rest = address;
  const std::size_t bracket = address.find(']');
  if (absl::ConsumePrefix(&rest, "[") && bracket != absl::string_view::npos) {
    result.host = std::string(address.substr(1, bracket - 1));
    result.bracketed = true;
    rest = address.substr(bracket + 1);
  } else {
    const std::size_t colon = address.rfind(':');
    if (colon == absl::string_view::npos) return Refuse(address, "has no port; it is HOST:PORT or unix:PATH");
    result.host = std::string(address.substr(0, colon));
    rest = address.substr(colon);
  }
  if (!absl::ConsumePrefix(&rest, ":") || !IsPort(rest)) {
    return Refuse(address, "has no port from 1 to 65535 at its end; it is HOST:PORT or unix:PATH");
  }
  result.port = std::string(rest);
  if (result.host.empty()) return Refuse(address, "has no host before its port");
  if (result.bracketed != (result.host.find(':') != std::string::npos)) {
    return Refuse(address, "needs brackets around an IPv6 host, and only there: [::1]:8001");
  }
  if (result.host.find_first_of(" /?#@\t\r\n") != std::string::npos)
    return Refuse(address, "has a host that is no name");
  return result;
}

absl::StatusOr<std::string> TargetOfList(absl::string_view address) {
  const std::vector<absl::string_view> parts = absl::StrSplit(address, ',');
  bool all_v4 = true;
  bool all_v6 = true;
  for (const absl::string_view part : parts) {
    auto split = Split(part);
    if (!split.ok()) return split.status();
    all_v4 = all_v4 && IsIp(AF_INET, split->host);
    all_v6 = all_v6 && IsIp(AF_INET6, split->host);
  }
  if (!all_v4 && !all_v6) {
    return Refuse(
        address,
        "lists more than IPv4 addresses or than IPv6 addresses; for a name with several addresses give HOST:PORT");
  }
  return absl::StrCat(all_v4 ? "ipv4:" : "ipv6:", address);
}

}  // namespace

absl::StatusOr<std::string> TargetOf(absl::string_view address) {
  if (address.empty()) return Refuse(address, "is empty; it is HOST:PORT or unix:PATH");
  for (const absl::string_view scheme : kSchemes) {
    if (!absl::StartsWith(address, scheme)) continue;
    // "dns:8001" could be a host of that name, but is not one to guess about.
    if (address.size() == scheme.size()) return Refuse(address, "has nothing after its scheme");
    return std::string(address);
  }
  if (absl::StrContains(address, "://")) {
    return Refuse(address, absl::StrCat("has a scheme other than ", absl::StrJoin(kSchemes, " ")));
  }
  if (absl::StrContains(address, ',')) return TargetOfList(address);
  auto split = Split(address);
  if (!split.ok()) return split.status();
  return absl::StrCat("dns:///", address);
}

}  // namespace embd::client
