#include "server/app/security.h"

#include <openssl/crypto.h>

#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/app/secret_file.h"
#include "server/app/tls_material.h"
#include "server/config/names.h"
#include "server/core/error.h"
#include "server/observability/log.h"
#include "server/service/token_table.h"

namespace embd::app {
namespace {

constexpr absl::Duration kWatchPeriod = absl::Milliseconds(500);
constexpr absl::Duration kSoon = absl::Hours(24 * 14);

void WarnOfReaders(const std::string& path) {
  observability::LogWarning(
      absl::StrCat(core::ValidUtf8(path), " may be read by every user of this machine; chmod o-r takes that away"));
}

}  // namespace

Security::Security(const config::ServerConfig& config, service::Access* access)
    : listen_(config.listen), tls_(config.tls), token_path_(config.tokens), access_(*access) {
  // The watches come before the first look into the files, so that no change is missed.
  if (tls_.has_value()) {
    std::vector<std::string> paths = {tls_->certificate, tls_->key};
    if (!tls_->client_ca.empty()) paths.push_back(tls_->client_ca);
    tls_watch_.emplace(std::move(paths), kWatchPeriod, [this] {
      const core::MutexLock lock(&mutex_);
      return TakenUp(LoadTls(), tls_fault_);
    });
  }
  if (!token_path_.empty()) {
    token_watch_.emplace(std::vector<std::string>{token_path_}, kWatchPeriod, [this] {
      const core::MutexLock lock(&mutex_);
      return TakenUp(LoadTokens(), token_fault_);
    });
  }
}

absl::StatusOr<std::unique_ptr<Security>> Security::Create(const config::ServerConfig& config,
                                                           service::Access* access) {
  std::unique_ptr<Security> security(new Security(config, access));
  if (absl::Status status = security->Reload(); !status.ok()) return status;
  security->WarnOfTokensInTheClear();
  return security;
}

std::shared_ptr<grpc::ServerCredentials> Security::TcpCredentials() const {
  if (credentials_ != nullptr) return credentials_;
  return grpc::InsecureServerCredentials();
}

std::optional<absl::Time> Security::CertificateExpires() const {
  const core::MutexLock lock(&mutex_);
  return expires_;
}

absl::Status Security::Reload() {
  const core::MutexLock lock(&mutex_);
  absl::Status status = tls_.has_value() ? LoadTls() : absl::OkStatus();
  status.Update(token_path_.empty() ? absl::OkStatus() : LoadTokens());
  return status;
}

// It is tried again and again; the log needs to say it once.
bool Security::TakenUp(const absl::Status& status, std::string& last_fault) {
  const std::string fault(status.message());
  if (!status.ok() && fault != last_fault) {
    observability::LogWarning(absl::StrCat("the old one stays in use: ", fault));
  }
  last_fault = fault;
  return status.ok();
}

absl::Status Security::LoadTls() {
  auto material = ReadTlsMaterial(*tls_, absl::Now());
  if (!material.ok()) return material.status();
  const std::string until = absl::FormatTime(absl::RFC3339_sec, material->expires, absl::UTCTimeZone());
  observability::LogInfo(
      absl::StrCat("certificate ", core::ValidUtf8(tls_->certificate), " is in use, valid until ", until));
  if (material->expires - absl::Now() < kSoon) {
    observability::LogWarning(
        absl::StrCat("certificate ", core::ValidUtf8(tls_->certificate), " expires soon, at ", until));
  }
  if (material->others_may_read) WarnOfReaders(tls_->key);
  const absl::Time expires = material->expires;
  if (credentials_ != nullptr) {
    credentials_->Replace(*std::move(material));
  } else {
    auto credentials = TlsCredentials::Create(tls_->min_version, *std::move(material));
    if (!credentials.ok()) return credentials.status();
    credentials_ = *std::move(credentials);
  }
  expires_ = expires;
  return absl::OkStatus();
}

absl::Status Security::LoadTokens() {
  auto file = ReadSecretFile(token_path_);
  if (!file.ok()) {
    return core::Error(absl::StatusCode::kFailedPrecondition, "BAD_TOKEN_FILE",
                       absl::StrCat("server.tokens: ", core::ValidUtf8(token_path_), ": ", file.status().message()));
  }
  const absl::Cleanup wipe = [&file] { OPENSSL_cleanse(file->text.data(), file->text.size()); };
  auto table = service::TokenTable::Parse(file->text, core::ValidUtf8(token_path_));
  if (!table.ok()) return table.status();
  observability::LogInfo(absl::StrCat("tokens in use: ", table->size(), ", from ", core::ValidUtf8(token_path_)));
  if (file->others_may_read) WarnOfReaders(token_path_);
  access_.SetTokens(std::make_shared<const service::TokenTable>(*std::move(table)));
  return absl::OkStatus();
}

void Security::WarnOfTokensInTheClear() const {
  if (token_path_.empty() || tls_.has_value()) return;
  for (const std::string& address : listen_) {
    if (config::IsLocalAddress(address)) continue;
    observability::LogWarning(
        absl::StrCat("tokens are sent to ", address, " without encryption; server.tls keeps them secret"));
    return;
  }
}

}  // namespace embd::app
