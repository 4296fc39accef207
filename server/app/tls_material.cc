#include "server/app/tls_material.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/app/secret_file.h"
#include "server/core/error.h"

namespace embd::app {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

/// A file and what makes it needed, for messages.
struct Source {
  const char* setting;
  const std::string& path;
};

absl::Status Bad(const Source& source, absl::string_view what) {
  return core::Error(absl::StatusCode::kFailedPrecondition, "BAD_TLS_FILE",
                     absl::StrCat(source.setting, ": ", core::ValidUtf8(source.path), ": ", what));
}

absl::StatusOr<SecretFile> Read(const Source& source) {
  auto file = ReadSecretFile(source.path);
  if (!file.ok()) return Bad(source, file.status().message());
  return file;
}

Bio Over(const std::string& text) { return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free}; }

absl::StatusOr<std::vector<Certificate>> ReadCertificates(const Source& source, const std::string& text) {
  const Bio bio = Over(text);
  std::vector<Certificate> certificates;
  ERR_clear_error();
  while (X509* const next = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(next, &X509_free);
  }
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!at_end) return Bad(source, absl::StrCat("certificate ", certificates.size() + 1, " in it is damaged"));
  if (certificates.empty()) return Bad(source, "has no certificate in PEM");
  return certificates;
}

int NoPassword(char*, int, int, void*) { return -1; }  // else OpenSSL asks on the terminal

absl::StatusOr<Key> ReadKey(const Source& source, const std::string& text) {
  const Bio bio = Over(text);
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &NoPassword, nullptr), &EVP_PKEY_free);
  ERR_clear_error();
  if (key == nullptr) return Bad(source, "has no private key in PEM, or an encrypted one");
  return key;
}

absl::Time ToTime(const ASN1_TIME* time) {
  std::tm parts = {};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? absl::FromTimeT(timegm(&parts)) : absl::InfinitePast();
}

absl::Status CheckValidity(const Source& source, const std::vector<Certificate>& certificates, absl::Time now) {
  for (std::size_t i = 0; i < certificates.size(); ++i) {
    const absl::Time begins = ToTime(X509_get0_notBefore(certificates[i].get()));
    const absl::Time ends = ToTime(X509_get0_notAfter(certificates[i].get()));
    const std::string which = certificates.size() == 1 ? "the certificate" : absl::StrCat("certificate ", i + 1);
    const auto text = [](absl::Time time) { return absl::FormatTime(absl::RFC3339_sec, time, absl::UTCTimeZone()); };
    if (ends < now) return Bad(source, absl::StrCat(which, " has expired at ", text(ends)));
    if (begins > now) return Bad(source, absl::StrCat(which, " is not valid before ", text(begins)));
  }
  return absl::OkStatus();
}

// What OpenSSL would refuse only in a handshake, such as a key that is too short for its level of security.
absl::Status CheckUse(const Source& source, const std::vector<Certificate>& certificates, EVP_PKEY* key) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  bool used = context != nullptr && SSL_CTX_use_certificate(context.get(), certificates.front().get()) == 1 &&
              SSL_CTX_use_PrivateKey(context.get(), key) == 1;
  for (std::size_t i = 1; used && i < certificates.size(); ++i) {
    used = SSL_CTX_add1_chain_cert(context.get(), certificates[i].get()) == 1;
  }
  if (used) return absl::OkStatus();
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return Bad(source, absl::StrCat("OpenSSL does not use it: ", reason == nullptr ? "no reason is known" : reason));
}

}  // namespace

absl::StatusOr<TlsMaterial> ReadTlsMaterial(const config::Tls& tls, absl::Time now) {
  const Source certificate_source{.setting = "server.tls.certificate", .path = tls.certificate};
  const Source key_source{.setting = "server.tls.key", .path = tls.key};
  const Source ca_source{.setting = "server.tls.client_ca", .path = tls.client_ca};
  TlsMaterial material;

  auto file = Read(certificate_source);
  if (!file.ok()) return file.status();
  material.certificates = std::move(file->text);
  const auto certificates = ReadCertificates(certificate_source, material.certificates);
  if (!certificates.ok()) return certificates.status();
  if (absl::Status status = CheckValidity(certificate_source, *certificates, now); !status.ok()) return status;
  material.expires = ToTime(X509_get0_notAfter(certificates->front().get()));

  file = Read(key_source);
  if (!file.ok()) return file.status();
  material.key = std::move(file->text);
  material.others_may_read = file->others_may_read;
  const auto key = ReadKey(key_source, material.key);
  if (!key.ok()) return key.status();
  const bool fits = X509_check_private_key(certificates->front().get(), key->get()) == 1;
  ERR_clear_error();
  if (!fits) {
    return Bad(key_source, absl::StrCat("is not the key of the certificate in ", core::ValidUtf8(tls.certificate)));
  }
  if (absl::Status status = CheckUse(certificate_source, *certificates, key->get()); !status.ok()) return status;

  if (tls.client_ca.empty()) return material;
  file = Read(ca_source);
  if (!file.ok()) return file.status();
  material.client_ca = std::move(file->text);
  const auto authorities = ReadCertificates(ca_source, material.client_ca);
  if (!authorities.ok()) return authorities.status();
  // A bundle may keep an authority that has expired; one that is nothing else lets nobody in.
  const bool any_valid = std::any_of(authorities->begin(), authorities->end(), [&](const Certificate& each) {
    return ToTime(X509_get0_notAfter(each.get())) >= now;
  });
  if (!any_valid) return Bad(ca_source, "all certificates in it have expired");
  return material;
}

}  // namespace embd::app
