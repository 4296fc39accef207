#ifndef EMBD_SERVER_APP_SECURITY_H_
#define EMBD_SERVER_APP_SECURITY_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/security/server_credentials.h"
#include "server/app/file_watch.h"
#include "server/app/tls_credentials.h"
#include "server/config/server_config.h"
#include "server/core/threads/mutex.h"
#include "server/service/access.h"

namespace embd::app {

/// What a server's callers must bring along, and what it shows them: the files of TLS and of tokens, as they are now.
/// Files that change are read again within about a second; what is wrong with them is a warning in the log, what was
/// there before stays, and they are tried again, as a certificate may only become valid in a moment.
///
/// Thread safety: thread-safe.
class Security {
 public:
  /// Reads the files, and gives tokens to `access`, which outlives this. Unwise settings are warned of in the log.
  ///
  /// Errors:
  ///   those of ReadTlsMaterial, TlsCredentials::Create and TokenTable::Parse
  ///   FAILED_PRECONDITION  [BAD_TOKEN_FILE] the file of tokens cannot be read.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<Security>> Create(const config::ServerConfig& config,
                                                                        service::Access* access);

  /// For a TCP address of the server. Unix sockets are not encrypted: their bytes stay on this machine.
  [[nodiscard]] std::shared_ptr<grpc::ServerCredentials> TcpCredentials() const;

  /// When the certificate that is in use expires; unset without TLS.
  [[nodiscard]] std::optional<absl::Time> CertificateExpires() const;

  /// Reads the files again at once, changed or not. Errors: as Create, of the first file that is wrong; what that file
  /// stands for stays as it was, and the others are taken up.
  [[nodiscard]] absl::Status Reload();

 private:
  Security(const config::ServerConfig& config, service::Access* access);

  absl::Status LoadTls() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status LoadTokens() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static bool TakenUp(const absl::Status& status, std::string& last_fault);
  void WarnOfTokensInTheClear() const;

  const std::vector<std::string> listen_;
  const std::optional<config::Tls> tls_;
  const std::string token_path_;
  service::Access& access_;
  mutable core::Mutex mutex_;  // one file at a time is loaded
  std::optional<absl::Time> expires_ ABSL_GUARDED_BY(mutex_);
  std::string tls_fault_;                        // of the last try; of the watch's thread
  std::string token_fault_;                      // of the last try; of the watch's thread
  std::shared_ptr<TlsCredentials> credentials_;  // set once, before anybody else sees this
  std::optional<FileWatch> tls_watch_;           // last: their threads use what stands before
  std::optional<FileWatch> token_watch_;
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_SECURITY_H_
