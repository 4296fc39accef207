#include "server/service/token_table.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/core/error.h"

namespace embd::service {
namespace {

constexpr std::size_t kMinTokenBytes = 16;
constexpr std::size_t kMaxTokenBytes = 1024;
constexpr std::size_t kMaxNameBytes = 64;
constexpr absl::string_view kDigestPrefix = "sha256:";

absl::Status BadFile(absl::string_view where, absl::string_view what) {
  return core::Error(absl::StatusCode::kFailedPrecondition, "BAD_TOKEN_FILE", absl::StrCat(where, ": ", what));
}

bool IsName(absl::string_view text) {
  return text.size() <= kMaxNameBytes && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("._@-", c);
         });
}

bool IsToken(absl::string_view text) {
  return text.size() >= kMinTokenBytes && text.size() <= kMaxTokenBytes &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)); });
}

bool IsHex(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); });
}

}  // namespace

std::optional<TokenTable::Digest> TokenTable::DigestOf(absl::string_view token) {
  Digest digest = {};
  const int done = EVP_Digest(token.data(), token.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return done == 1 ? std::make_optional(digest) : std::nullopt;
}

const TokenTable::Entry* TokenTable::FindDigest(const Digest& digest) const {
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0) found = &entry;
  }
  return found;
}

const TokenTable::Holder* TokenTable::Find(absl::string_view token) const {
  const std::optional<Digest> digest = DigestOf(token);
  if (!digest.has_value()) return nullptr;
  const Entry* const entry = FindDigest(*digest);
  return entry == nullptr ? nullptr : &entry->holder;
}

absl::StatusOr<TokenTable> TokenTable::Parse(absl::string_view text, const std::string& path) {
  TokenTable table;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::string where = absl::StrCat(path, ":", ++number);
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    const std::vector<absl::string_view> fields = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (fields.size() != 3) return BadFile(where, "a line is ROLE NAME TOKEN, separated by spaces");
    Entry entry;
    if (fields[0] != "read" && fields[0] != "admin") return BadFile(where, "the role must be read or admin");
    entry.holder.role = fields[0] == "admin" ? Role::kAdmin : Role::kRead;
    if (!IsName(fields[1])) return BadFile(where, "the name must be up to 64 letters, digits and . _ @ -");
    entry.holder.name = std::string(fields[1]);
    absl::string_view secret = fields[2];
    if (absl::ConsumePrefix(&secret, kDigestPrefix)) {
      if (secret.size() != 2 * entry.digest.size() || !IsHex(secret)) {
        return BadFile(where, "behind sha256: there must be 64 hex digits");
      }
      const std::string bytes = absl::HexStringToBytes(secret);
      std::copy(bytes.begin(), bytes.end(), entry.digest.begin());
    } else if (!IsToken(secret)) {
      return BadFile(where, "the token must have 16 to 1024 printable ASCII characters");
    } else {
      const std::optional<Digest> digest = DigestOf(secret);
      if (!digest.has_value())
        return BadFile(where, "OpenSSL makes no SHA-256 of the token, by its configuration or now");
      entry.digest = *digest;
    }
    if (table.FindDigest(entry.digest) != nullptr) return BadFile(where, "the token is there already");
    table.entries_.push_back(std::move(entry));
  }
  if (table.entries_.empty()) return BadFile(path, "has no token, so nobody could call");
  return table;
}

}  // namespace embd::service
