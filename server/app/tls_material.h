#ifndef EMBD_SERVER_APP_TLS_MATERIAL_H_
#define EMBD_SERVER_APP_TLS_MATERIAL_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/config/server_config.h"

namespace embd::app {

/// The contents of the files of TLS, PEM, which fit each other.
struct TlsMaterial {
  std::string certificates;      ///< of the server, then those between it and the root
  std::string key;               ///< of the first certificate
  std::string client_ca;         ///< empty: clients need no certificate
  absl::Time expires;            ///< when the first of `certificates` does
  bool others_may_read = false;  ///< whether any user of this machine may read the key

  friend bool operator==(const TlsMaterial&, const TlsMaterial&) = default;
};

/// Reads and checks the files, so that what a handshake would stumble over is found here.
///
/// Errors, which name the key of the configuration and the file:
///   FAILED_PRECONDITION  [BAD_TLS_FILE] a file cannot be read, is no PEM, or its key is encrypted; the key is another
///                        certificate's; a certificate has expired at `now`, or is not valid yet, or is one that
///                        OpenSSL does not use, such as one with a key that is too short.
[[nodiscard]] absl::StatusOr<TlsMaterial> ReadTlsMaterial(const config::Tls& tls, absl::Time now);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_TLS_MATERIAL_H_
