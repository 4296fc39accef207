#include "server/config/names.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/config/config_error.h"
#include "server/config/scalar_syntax.h"

namespace embd::config {
namespace {

constexpr std::size_t kMaxNameBytes = 128;
constexpr std::size_t kMaxHostBytes = 253;
constexpr std::size_t kMaxSocketPathBytes = 107;  // what sockaddr_un holds besides the closing NUL

bool IsAlphanumeric(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

bool HasNameLetters(absl::string_view text, std::size_t max_bytes) {
  return !text.empty() && text.size() <= max_bytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsAlphanumeric(c) || absl::StrContains("._-", c); });
}

bool IsWord(absl::string_view text, std::size_t max_bytes) {
  return HasNameLetters(text, max_bytes) && IsAlphanumeric(text[0]);
}

std::optional<std::string> FaultOfWord(absl::string_view text) {
  if (IsWord(text, kMaxNameBytes)) return std::nullopt;
  return absl::StrCat("must be 1 to ", kMaxNameBytes,
                      " letters, digits, '.', '_' or '-', a letter or digit first, got ", Quote(text));
}

bool IsIp(int family, absl::string_view text) {
  in6_addr address{};  // large enough for either family
  return inet_pton(family, std::string(text).c_str(), &address) == 1;
}

bool IsHost(absl::string_view host) {
  if (!IsWord(host, kMaxHostBytes)) return false;
  // A name's last part is never a number, so this can only be meant as an IPv4 address.
  const bool numeric = host.find_first_not_of("0123456789.") == absl::string_view::npos;
  return !numeric || IsIp(AF_INET, host);
}

bool IsHostAndPort(absl::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) return false;
  absl::string_view host = address.substr(0, colon);
  const absl::string_view digits = address.substr(colon + 1);
  const auto port = ParseUnsigned(digits);
  if (!port.has_value() || *port > 65535 || digits.size() > 5) return false;
  if (absl::ConsumePrefix(&host, "[")) return absl::ConsumeSuffix(&host, "]") && IsIp(AF_INET6, host);
  return IsHost(host);
}

}  // namespace

std::optional<std::string> FaultOfModelName(absl::string_view name) {
  if (auto fault = FaultOfWord(name); fault.has_value()) return fault;
  for (const absl::string_view reserved : {"embd.v1.", "inference.", "grpc."}) {
    if (absl::StartsWith(name, reserved)) {
      return absl::StrCat("must not begin with ", reserved, " as services do, got ", Quote(name));
    }
  }
  return std::nullopt;
}

std::optional<std::string> FaultOfVersion(absl::string_view version) { return FaultOfWord(version); }

std::optional<std::string> FaultOfServerName(absl::string_view name) {
  if (HasNameLetters(name, kMaxNameBytes)) return std::nullopt;
  return absl::StrCat("must be 1 to ", kMaxNameBytes, " letters, digits, '.', '_' or '-', got ", Quote(name));
}

std::optional<std::string> FaultOfListenAddress(absl::string_view address) {
  absl::string_view path = address;
  if (absl::ConsumePrefix(&path, "unix:")) {
    if (!path.empty() && path.size() <= kMaxSocketPathBytes && !absl::StrContains(path, '\0')) return std::nullopt;
    return absl::StrCat("the path of a unix: address must be 1 to ", kMaxSocketPathBytes, " bytes long, got ",
                        Quote(address));
  }
  if (IsHostAndPort(address)) return std::nullopt;
  return absl::StrCat("must be HOST:PORT, [IPV6]:PORT or unix:PATH with a port from 0 to 65535, got ", Quote(address));
}

std::optional<std::string> FaultOfMetricsAddress(absl::string_view address) {
  if (address == "none" || IsHostAndPort(address)) return std::nullopt;
  return absl::StrCat("must be none, or HOST:PORT or [IPV6]:PORT with a port from 0 to 65535, got ", Quote(address));
}

bool IsLocalAddress(absl::string_view address) {
  if (absl::StartsWith(address, "unix:")) return true;
  const absl::string_view host = address.substr(0, address.rfind(':'));
  in6_addr ipv6{};
  if (absl::StartsWith(host, "[")) {
    return inet_pton(AF_INET6, std::string(host.substr(1, host.size() - 2)).c_str(), &ipv6) == 1 &&
           IN6_IS_ADDR_LOOPBACK(&ipv6);
  }
  return absl::EqualsIgnoreCase(host, "localhost") || (absl::StartsWith(host, "127.") && IsIp(AF_INET, host));
}

std::optional<std::string> FaultOfRegionPrefix(absl::string_view prefix) {
  std::vector<absl::string_view> components = absl::StrSplit(prefix, '/');
  if (components.size() > 2 && components.back().empty()) components.pop_back();
  bool right = components.size() > 1 && components.front().empty() && !absl::StrContains(prefix, '\0');
  for (std::size_t i = 1; i < components.size(); ++i) {
    right = right && !components[i].empty() && components[i] != "." && components[i] != "..";
  }
  if (right) return std::nullopt;
  return absl::StrCat("must be an absolute path other than / without empty, \".\" and \"..\" components, got ",
                      Quote(prefix));
}

std::optional<std::string> FaultOfLogLevel(absl::string_view level) {
  constexpr std::array<absl::string_view, 6> kLevels = {"trace", "debug", "info", "warn", "error", "off"};
  if (std::find(kLevels.begin(), kLevels.end(), level) != kLevels.end()) return std::nullopt;
  return absl::StrCat("must be one of ", absl::StrJoin(kLevels, ", "), ", got ", Quote(level));
}

}  // namespace embd::config
