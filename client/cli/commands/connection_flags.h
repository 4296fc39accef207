#ifndef EMBD_CLIENT_CLI_COMMANDS_CONNECTION_FLAGS_H_
#define EMBD_CLIENT_CLI_COMMANDS_CONNECTION_FLAGS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "embd/client/options.h"

namespace embd::cli {

/// How the connection is encrypted, and what the server is shown.
struct ConnectionFlags {
  bool tls = false;
  client::TlsOptions tls_options;
  std::string token_file;
};

/// Adds --tls, --tls-ca, --tls-certificate, --tls-key, --tls-server-name and --token-file, and their variables, to the
/// program. There is no flag for a token itself: others can see what a program was called with.
void AddConnectionFlags(CLI::App& app, ConnectionFlags& flags);

/// The flags as options of the client; besides them, EMBDCTL_TOKEN where there is no file of a token. A flag of TLS
/// that has a value asks for TLS like --tls.
[[nodiscard]] client::ClientOptions ToClientOptions(const ConnectionFlags& flags);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_CONNECTION_FLAGS_H_
