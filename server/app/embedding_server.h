#ifndef EMBD_SERVER_APP_EMBEDDING_SERVER_H_
#define EMBD_SERVER_APP_EMBEDDING_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"
#include "server/config/server_config.h"
#include "server/service/model_control.h"

namespace embd::oip {
class Servable;
}

namespace embd::app {

/// A running server: all models loaded, all addresses bound, calls being answered.
///
/// Thread safety: thread-safe.
class EmbeddingServer {
 public:
  /// What the Open Inference Protocol serves besides the models of the configuration.
  using Servables = std::vector<std::shared_ptr<const oip::Servable>>;

  /// Serves /healthz and the like, loads every model, then binds every address and starts to answer.
  ///
  /// Errors:
  ///   those of BuildModel
  ///   FAILED_PRECONDITION  [CANNOT_LISTEN] an address cannot be bound, or is another server's; names it.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<EmbeddingServer>> Start(const config::ServerConfig& config,
                                                                              const Servables& others = {});

  virtual ~EmbeddingServer() = default;  ///< as Shutdown without grace

  /// The bound addresses in the order of the configuration, with real ports in place of 0.
  [[nodiscard]] virtual const std::vector<std::string>& addresses() const = 0;
  /// The bound addresses of /metrics, /healthz and /readyz, likewise; they answer until the end of this object.
  [[nodiscard]] virtual const std::vector<std::string>& metrics_addresses() const = 0;
  /// The port of the first TCP address; 0 where there is none.
  [[nodiscard]] virtual int port() const = 0;
  /// A channel to this server that goes through no socket.
  [[nodiscard]] virtual std::shared_ptr<grpc::Channel> InProcessChannel(const grpc::ChannelArguments& arguments) = 0;

  /// The models of the configuration, to be loaded anew and unloaded.
  [[nodiscard]] virtual service::ModelControl& model_control() = 0;

  /// Tells health checks NOT_SERVING, refuses new calls, gives calls in flight `grace` to end, then cancels them. Calls
  /// after the first do nothing.
  virtual void Shutdown(absl::Duration grace) = 0;
  /// Returns after Shutdown is done.
  virtual void Wait() = 0;
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_EMBEDDING_SERVER_H_
