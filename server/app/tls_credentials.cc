#include "server/app/tls_credentials.h"

#include <cstdlib>

#include "absl/strings/string_view.h"
#include "grpc/grpc.h"
#include "server/core/error.h"

namespace embd::app {
namespace {

// gRPC 1.51 has no option for the lowest version: it speaks 1.2 and 1.3. This variable, which it reads once, names the
// cipher suites of TLS 1.2 only; those of 1.3 are others and stay as they are. A suite that needs a key shared
// beforehand, which gRPC never sets, cannot be chosen, so every handshake of 1.2 ends with "no shared cipher".
constexpr char kCipherVariable[] = "GRPC_SSL_CIPHER_SUITES";
constexpr char kNoCipherOfTls12[] = "ECDHE-PSK-CHACHA20-POLY1305";

bool IsLimitedToTls13() {
  const char* const ciphers = std::getenv(kCipherVariable);
  return ciphers != nullptr && absl::string_view(ciphers) == kNoCipherOfTls12;
}

}  // namespace

void LimitTlsVersion(config::TlsVersion version) {
  if (version == config::TlsVersion::kTls13) setenv(kCipherVariable, kNoCipherOfTls12, /*overwrite=*/1);
}

absl::StatusOr<std::shared_ptr<TlsCredentials>> TlsCredentials::Create(config::TlsVersion min_version,
                                                                       TlsMaterial material) {
  if (min_version == config::TlsVersion::kTls13 && !IsLimitedToTls13()) {
    return core::Error(absl::StatusCode::kFailedPrecondition, "TLS_VERSION",
                       "server.tls.min_version: this process speaks TLS 1.2, and it is too late to change that");
  }
  return std::shared_ptr<TlsCredentials>(new TlsCredentials(std::move(material)));
}

void TlsCredentials::Replace(TlsMaterial material) {
  const core::MutexLock lock(&mutex_);
  material_ = std::move(material);
  ++generation_;
}

int TlsCredentials::AddPortToServer(const std::string& address, grpc_server* server) {
  ports_.push_back(std::make_unique<Port>(Port{.credentials = this}));
  const auto request = [this] {
    const core::MutexLock lock(&mutex_);
    return material_.client_ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                       : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
  }();
  grpc_server_credentials* const credentials = grpc_ssl_server_credentials_create_with_options(
      grpc_ssl_server_credentials_create_options_using_config_fetcher(request, &Fetch, ports_.back().get()));
  const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
  grpc_server_credentials_release(credentials);
  return port;
}

grpc_ssl_certificate_config_reload_status TlsCredentials::Fetch(void* port,
                                                                grpc_ssl_server_certificate_config** config) {
  auto& asking = *static_cast<Port*>(port);
  const TlsCredentials& self = *asking.credentials;
  const core::MutexLock lock(&self.mutex_);
  if (asking.taken == self.generation_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const grpc_ssl_pem_key_cert_pair pair{.private_key = self.material_.key.c_str(),
                                        .cert_chain = self.material_.certificates.c_str()};
  // gRPC 1.51 aborts where there are no authorities, even if clients are not asked for a certificate; so there are
  // some, which nothing is checked against then.
  const std::string& authorities =
      self.material_.client_ca.empty() ? self.material_.certificates : self.material_.client_ca;
  *config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
  asking.taken = self.generation_;
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace embd::app
