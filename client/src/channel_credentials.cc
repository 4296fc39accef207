#include "client/src/channel_credentials.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/src/credential_file.h"

namespace embd::client {
namespace {

// gRPC says of a file that it cannot use only that no call comes through.
absl::Status ReadPem(absl::string_view option, const std::string& path, absl::string_view label, std::string* pem) {
  if (path.empty()) return absl::OkStatus();
  auto text = ReadCredentialFile(option, path);
  if (!text.ok()) return text.status();
  if (!absl::StrContains(*text, "-----BEGIN ") || !absl::StrContains(*text, label)) {
    return absl::InvalidArgumentError(absl::StrCat(option, " \"", absl::Utf8SafeCHexEscape(path), "\" holds no ",
                                                   absl::AsciiStrToLower(label), " in PEM"));
  }
  *pem = *std::move(text);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsFor(const std::string& target,
                                                                         const std::optional<TlsOptions>& tls) {
  if (!tls.has_value()) return grpc::InsecureChannelCredentials();
  if (absl::StartsWith(target, "unix:") || absl::StartsWith(target, "unix-abstract:")) {
    return absl::InvalidArgumentError("tls is for TCP addresses; servers do not encrypt Unix sockets");
  }
  if (tls->certificate_file.empty() != tls->key_file.empty()) {
    return absl::InvalidArgumentError("tls.certificate_file and tls.key_file go together");
  }
  grpc::SslCredentialsOptions options;
  for (const absl::Status& status : {
           ReadPem("tls.root_certificates_file", tls->root_certificates_file, "CERTIFICATE", &options.pem_root_certs),
           ReadPem("tls.certificate_file", tls->certificate_file, "CERTIFICATE", &options.pem_cert_chain),
           ReadPem("tls.key_file", tls->key_file, "PRIVATE KEY", &options.pem_private_key),
       }) {
    if (!status.ok()) return status;
  }
  return grpc::SslCredentials(options);
}

}  // namespace embd::client
