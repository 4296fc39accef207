#ifndef EMBD_SERVER_SERVICE_TOKEN_TABLE_H_
#define EMBD_SERVER_SERVICE_TOKEN_TABLE_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/service/method.h"

namespace embd::service {

/// The bearer tokens that are known, and who holds them. Of the tokens themselves only SHA-256 digests are kept.
///
/// Thread safety: never changes after `Parse`, so any number of threads may ask it.
class TokenTable {
 public:
  struct Holder {
    std::string name;  ///< for the log; not secret
    Role role = Role::kAnyone;
  };

  /// Reads the text of a token file: on each line `ROLE NAME TOKEN`, separated by spaces or tabs. ROLE is read or
  /// admin; NAME is what the log calls the holder, letters, digits and "._@-", up to 64; TOKEN is 16 to 1024 printable
  /// ASCII characters without spaces, or `sha256:` and the 64 hex digits of its digest. Blank lines, and those that
  /// begin with "#", are skipped. A name may have several tokens, so that one can follow another.
  ///
  /// Errors, which begin with `path` and the line and never show anything of it:
  ///   FAILED_PRECONDITION  [BAD_TOKEN_FILE] a line is none of that, a token is there twice, or there is none at all.
  [[nodiscard]] static absl::StatusOr<TokenTable> Parse(absl::string_view text, const std::string& path);

  /// Who holds the token; null: nobody. Lives as long as the table.
  ///
  /// Cost: one SHA-256, and a comparison with every digest, whichever it is: the time tells nothing about the tokens.
  [[nodiscard]] const Holder* Find(absl::string_view token) const;

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  using Digest = std::array<unsigned char, 32>;
  struct Entry {
    Digest digest = {};
    Holder holder;
  };

  static std::optional<Digest> DigestOf(absl::string_view token);  // unset where OpenSSL cannot
  [[nodiscard]] const Entry* FindDigest(const Digest& digest) const;

  std::vector<Entry> entries_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_TOKEN_TABLE_H_
