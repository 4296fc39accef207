#ifndef EMBD_SERVER_APP_TLS_CREDENTIALS_H_
#define EMBD_SERVER_APP_TLS_CREDENTIALS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "grpc/grpc_security.h"
#include "grpcpp/security/server_credentials.h"
#include "server/app/tls_material.h"
#include "server/config/server_config.h"
#include "server/core/threads/mutex.h"

namespace embd::app {

/// Has gRPC speak only the versions of TLS that `version` allows, in this process: to be called before the first
/// server or channel with TLS, and before other threads run.
void LimitTlsVersion(config::TlsVersion version);

/// Credentials of a server whose certificate, key and authorities can be replaced while it serves: each handshake
/// takes those of its moment, and connections that are open stay. (gRPC's own watcher of files forgets the old ones
/// before it has tried the new.)
///
/// Outlives the servers that it was given to. Thread safety: thread-safe.
class TlsCredentials final : public grpc::ServerCredentials {
 public:
  /// Takes TLS 1.3 for granted where LimitTlsVersion has been called for it.
  ///
  /// Errors:
  ///   FAILED_PRECONDITION  [TLS_VERSION] TLS 1.3 is demanded, and LimitTlsVersion was not called.
  [[nodiscard]] static absl::StatusOr<std::shared_ptr<TlsCredentials>> Create(config::TlsVersion min_version,
                                                                              TlsMaterial material);

  /// Handshakes that begin later use `material`; whether clients need a certificate does not change.
  void Replace(TlsMaterial material);

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}  // tokens: Access

 private:
  /// What one listening port has last taken. gRPC calls Fetch for each handshake, one at a time for a port.
  struct Port {
    TlsCredentials* credentials = nullptr;
    std::int64_t taken = 0;
  };

  explicit TlsCredentials(TlsMaterial material) : material_(std::move(material)) {}
  int AddPortToServer(const std::string& address, grpc_server* server) override;
  static grpc_ssl_certificate_config_reload_status Fetch(void* port, grpc_ssl_server_certificate_config** config);

  mutable core::Mutex mutex_;
  TlsMaterial material_ ABSL_GUARDED_BY(mutex_);
  std::int64_t generation_ ABSL_GUARDED_BY(mutex_) = 1;
  std::vector<std::unique_ptr<Port>> ports_;  // of the thread that builds the server
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_TLS_CREDENTIALS_H_
