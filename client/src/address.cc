#include "address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/strings/ascii.h"
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
constexpr absl::string_view kPathSchemes[] = {"unix:", "unix-abstract:"};

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
  const bool digits = std::all_of(text.begin(), text.end(), [](unsigned char c) { return absl::ascii_isdigit(c); });
  return digits && absl::SimpleAtoi(text, &port) && port >= 1 && port <= 65535;
}

bool IsIp(int family, const std::string& host) {
  in6_addr parsed{};  // the larger of the two
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

// IP:PORT,IP:PORT,…; `family` is AF_INET, AF_INET6, or AF_UNSPEC for either.
absl::StatusOr<std::string> TargetOfList(absl::string_view address, absl::string_view list, int family) {
  bool all_v4 = family != AF_INET6;
  bool all_v6 = family != AF_INET;
  for (const absl::string_view part : absl::StrSplit(list, ',')) {
    const auto split = Split(part);
    if (!split.ok()) return split.status();
    all_v4 = all_v4 && IsIp(AF_INET, split->host);
    all_v6 = all_v6 && IsIp(AF_INET6, split->host);
  }
  if (all_v4 || all_v6) return absl::StrCat(all_v4 ? "ipv4:" : "ipv6:", list);
  if (family == AF_INET) return Refuse(address, "has a host that is no IPv4 address; it is ipv4:IP:PORT");
  if (family == AF_INET6) return Refuse(address, "has a host that is no IPv6 address; it is ipv6:[IP]:PORT");
  return Refuse(
      address,
      "lists more than IPv4 addresses or than IPv6 addresses; for a name with several addresses give HOST:PORT");
}

// HOST:PORT, or //AUTHORITY/HOST:PORT where a DNS server is named too.
absl::StatusOr<std::string> TargetOfName(absl::string_view address, absl::string_view name) {
  absl::string_view rest = name;
  if (absl::ConsumePrefix(&rest, "//")) {
    const std::size_t slash = rest.find('/');
    if (slash == absl::string_view::npos)
      return Refuse(address, "has no host; it is dns:HOST:PORT or dns:///HOST:PORT");
    rest.remove_prefix(slash + 1);
  }
  const auto split = Split(rest);
  if (!split.ok()) return split.status();
  return absl::StrCat("dns:", name);
}

}  // namespace

absl::StatusOr<std::string> TargetOf(absl::string_view address) {
  if (address.empty()) return Refuse(address, "is empty; it is HOST:PORT or unix:PATH");
  for (const absl::string_view scheme : kPathSchemes) {
    if (!absl::StartsWith(address, scheme)) continue;
    if (address.size() == scheme.size()) return Refuse(address, "has nothing after its scheme");
    return std::string(address);
  }
  // "dns:8001" could be a host of that name, but is not one to guess about.
  absl::string_view rest = address;
  if (absl::ConsumePrefix(&rest, "dns:")) return TargetOfName(address, rest);
  if (absl::ConsumePrefix(&rest, "ipv4:")) return TargetOfList(address, rest, AF_INET);
  if (absl::ConsumePrefix(&rest, "ipv6:")) return TargetOfList(address, rest, AF_INET6);
  if (absl::StrContains(address, "://")) {
    return Refuse(address, absl::StrCat("has a scheme other than ", absl::StrJoin(kSchemes, " ")));
  }
  if (absl::StrContains(address, ',')) return TargetOfList(address, address, AF_UNSPEC);
  const auto split = Split(address);
  if (!split.ok()) return split.status();
  return absl::StrCat("dns:///", address);
}

}  // namespace embd::client
