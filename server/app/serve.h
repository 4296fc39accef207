#ifndef EMBD_SERVER_APP_SERVE_H_
#define EMBD_SERVER_APP_SERVE_H_

#include "absl/status/status.h"
#include "server/app/embedding_server.h"
#include "server/app/service_manager.h"
#include "server/config/server_config.h"

namespace embd::app {

/// The life of the server program: serves `config` until a signal ends it, to be called once a process, which handles
/// SIGTERM, SIGINT, SIGHUP and SIGPIPE from then on.
///
/// The ready file is written, and `manager` told, when the required models are loaded. SIGHUP has `read` called and its
/// result followed, once the server is ready. The first SIGTERM or SIGINT tells health checks, waits until callers have
/// gone, for at most the drain delay, and begins the drain, after which this returns
/// OK; a second one ends the process at once, by that signal. Where a load is under way when the drain is over, the
/// process ends with 0 instead of returning.
///
/// Errors: those of EmbeddingServer::Start and WriteReadyFile.
[[nodiscard]] absl::Status Serve(const config::ServerConfig& config, const EmbeddingServer::ReadConfig& read,
                                 const ServiceManager& manager);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_SERVE_H_
