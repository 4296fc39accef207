#include "client/cli/commands/connection_flags.h"

#include <cstdlib>

namespace embd::cli {

void AddConnectionFlags(CLI::App& app, ConnectionFlags& flags) {
  const auto add = [&app](const char* name, std::string& value, const char* help, const char* type,
                          const char* variable) {
    app.add_option(name, value, help)->type_name(type)->envname(variable);
  };
  client::TlsOptions& tls = flags.tls_options;
  app.add_flag("--tls", flags.tls, "Encrypt the connection; other --tls flags imply it")->envname("EMBDCTL_TLS");
  add("--tls-ca", tls.root_certificates_file, "Authorities to trust in place of the system's, PEM", "FILE",
      "EMBDCTL_TLS_CA");
  add("--tls-certificate", tls.certificate_file, "Certificate to show to the server, PEM", "FILE",
      "EMBDCTL_TLS_CERTIFICATE");
  add("--tls-key", tls.key_file, "Its key, PEM", "FILE", "EMBDCTL_TLS_KEY");
  add("--tls-server-name", tls.server_name, "Name in the server's certificate, where it is not the address's host",
      "NAME", "EMBDCTL_TLS_SERVER_NAME");
  add("--token-file", flags.token_file, "File of the bearer token to send; without it EMBDCTL_TOKEN is sent", "FILE",
      "EMBDCTL_TOKEN_FILE");
}

client::ClientOptions ToClientOptions(const ConnectionFlags& flags) {
  client::ClientOptions options;
  const client::TlsOptions& tls = flags.tls_options;
  const bool implied = !tls.root_certificates_file.empty() || !tls.certificate_file.empty() || !tls.key_file.empty() ||
                       !tls.server_name.empty();
  if (flags.tls || implied) options.tls = tls;
  options.token_file = flags.token_file;
  const char* const token = std::getenv("EMBDCTL_TOKEN");
  if (token != nullptr && flags.token_file.empty()) options.token = token;
  return options;
}

}  // namespace embd::cli
