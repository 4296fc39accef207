#ifndef EMBD_TESTS_STRESS_CERTIFICATES_H_
#define EMBD_TESTS_STRESS_CERTIFICATES_H_

#include <string>

#include "server/config/server_config.h"

namespace embd::stress {

/// What a server with TLS and tokens reads, and how it is renewed.
///
/// Thread safety: never changes; one thread at a time may renew.
class Certificates {
 public:
  /// Makes two certificates, by `openssl`, and a file of tokens, into `folder`. The first certificate is in use.
  explicit Certificates(std::string folder);

  [[nodiscard]] config::Tls tls() const;
  [[nodiscard]] std::string tokens_file() const { return folder_ + "/tokens"; }
  /// Trusts both certificates.
  [[nodiscard]] std::string root_file() const { return folder_ + "/roots.pem"; }
  /// Holds the token that is always known, of an admin.
  [[nodiscard]] std::string client_token_file() const { return folder_ + "/token"; }
  [[nodiscard]] static std::string PassingToken() { return "passing-token-0123456789"; }

  /// Puts another certificate, then its key, into the place of those in use: for a moment they do not belong together.
  void RenewCertificate(int which) const;
  /// Writes the file of tokens with or without the passing one, and the client's file anew.
  void RenewTokens(bool passing) const;

 private:
  const std::string folder_;
};

}  // namespace embd::stress

#endif  // EMBD_TESTS_STRESS_CERTIFICATES_H_
