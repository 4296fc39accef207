#ifndef EMBD_TESTS_SUPPORT_SERVED_MODELS_H_
#define EMBD_TESTS_SUPPORT_SERVED_MODELS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "embd/client/client.h"
#include "server/app/embedding_server.h"
#include "server/config/server_config.h"

namespace embd::testing {

/// A model as tests like it: V rows of width D drawn with seed 7 and std 1, learned positions (L) where L > 0.
[[nodiscard]] config::ModelConfig SmallModel(const std::string& name, std::int64_t vocab_size,
                                             std::int64_t embedding_dim, std::int64_t max_context_length);

/// A running server on a free TCP port and a Unix socket in a temporary folder; stops, and removes the folder, at the
/// end.
class ServedModels {
 public:
  /// Serves `config` with its addresses replaced, and `others` by the Open Inference Protocol. Ends the program where
  /// the server does not start.
  explicit ServedModels(config::ServerConfig config, const app::EmbeddingServer::Servables& others = {});
  ServedModels(const ServedModels&) = delete;
  ServedModels& operator=(const ServedModels&) = delete;
  ~ServedModels();

  [[nodiscard]] app::EmbeddingServer& server() { return *server_; }
  [[nodiscard]] std::string tcp_address() const { return server_->addresses()[0]; }
  [[nodiscard]] std::string unix_address() const { return server_->addresses()[1]; }
  [[nodiscard]] client::Client TcpClient() const;
  [[nodiscard]] client::Client UnixClient() const;
  [[nodiscard]] client::Client InProcessClient() const;

 private:
  std::string folder_;
  std::unique_ptr<app::EmbeddingServer> server_;
};

/// One way of getting an embedding computed.
struct Route {
  std::string name;
  std::function<absl::StatusOr<client::Embedding>(const client::EmbedRequest&)> embed;
};

/// The engine without any wire, over the models of `config`, which are built for it.
[[nodiscard]] Route CoreRoute(const config::ServerConfig& config);

/// Every way there is to ask for the models of `config`: the core without any wire, and a server by in-process channel,
/// TCP and Unix socket, unary, in blocks of rows, into the caller's memory, asynchronous and by stream. `served`
/// outlives the result.
[[nodiscard]] std::vector<Route> AllRoutes(const config::ServerConfig& config, const ServedModels& served);

}  // namespace embd::testing

#endif  // EMBD_TESTS_SUPPORT_SERVED_MODELS_H_
