#ifndef EMBD_SERVER_APP_EMBEDDING_SERVER_H_
#define EMBD_SERVER_APP_EMBEDDING_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"
#include "server/config/server_config.h"
#include "server/service/model_control.h"

namespace embd::oip {
class Servable;
}

namespace embd::app {

/// A running server: all addresses bound, calls being answered. It is live at once, and ready, which health checks are
/// told as SERVING of "", when the models that are required are loaded.
///
/// Until then, calls for a model that is still to be loaded are UNAVAILABLE [MODEL_LOADING]; those for others are
/// answered. What happens to single models later, such as an unload, does not change that the server is ready.
/// Thread safety: thread-safe.
class EmbeddingServer {
 public:
  /// What the Open Inference Protocol serves besides the models of the configuration.
  using Servables = std::vector<std::shared_ptr<const oip::Servable>>;

  /// Reads and checks the configuration anew; see Reload.
  using ReadConfig = std::function<absl::StatusOr<config::ServerConfig>()>;

  /// Serves /healthz and the like, binds every address and starts to answer; loads nothing. Without `read`, the
  /// configuration cannot be read again.
  ///
  /// Errors:
  ///   those of Security::Create
  ///   FAILED_PRECONDITION  [CANNOT_LISTEN] an address cannot be bound, or is another server's; names it.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<EmbeddingServer>> Listen(const config::ServerConfig& config,
                                                                               const Servables& others = {},
                                                                               ReadConfig read = {});

  /// Listen and LoadModels: returns when all is loaded that can be. Errors: those of both.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<EmbeddingServer>> Start(const config::ServerConfig& config,
                                                                              const Servables& others = {},
                                                                              ReadConfig read = {});

  /// As Shutdown without grace. Waits for loads that are under way.
  virtual ~EmbeddingServer() = default;

  /// Loads every model, to be called once: the required ones, and then, when the server is ready and `ready` has been
  /// called, the others, of which those that cannot be loaded are only logged. Returns early where the server is shut
  /// down meanwhile.
  ///
  /// Errors: those of BuildModel, of a required model; the server is then of no use.
  ///   UNAVAILABLE  [STOPPING] the server has been shut down before all required models were loaded.
  [[nodiscard]] virtual absl::Status LoadModels(const std::function<void()>& ready) = 0;

  /// Whether a model is being loaded, which cannot be broken off. After Shutdown, no other load begins.
  [[nodiscard]] virtual bool IsLoading() const = 0;

  /// Reads the configuration again and follows it; see Reload::Run for the errors. Blocks.
  [[nodiscard]] virtual absl::StatusOr<service::ReloadReport> ReloadConfig() = 0;

  /// ReloadConfig on a thread of the server's, and then `done`.
  virtual void ReloadConfigInBackground(std::function<void()> done) = 0;

  /// The bound addresses in the order of the configuration, with real ports in place of 0.
  [[nodiscard]] virtual const std::vector<std::string>& addresses() const = 0;
  /// The bound addresses of /metrics, /healthz and /readyz, likewise; they answer until the end of this object.
  [[nodiscard]] virtual const std::vector<std::string>& metrics_addresses() const = 0;
  /// The port of the first TCP address; 0 where there is none.
  [[nodiscard]] virtual int port() const = 0;
  /// A channel to this server that goes through no socket. No call may begin on it once the server is being shut down:
  /// gRPC 1.51 crashes then.
  [[nodiscard]] virtual std::shared_ptr<grpc::Channel> InProcessChannel(const grpc::ChannelArguments& arguments) = 0;

  /// The models of the configuration, to be loaded anew and unloaded.
  [[nodiscard]] virtual service::ModelControl& model_control() = 0;

  /// Tells health checks NOT_SERVING, for good, and begins no further load; calls are answered as before.
  virtual void AnnounceShutdown() = 0;

  /// How many calls have begun, ever.
  [[nodiscard]] virtual std::uint64_t calls_begun() const = 0;

  /// AnnounceShutdown, refuses new calls, gives calls in flight `grace` to end, then cancels them. Calls
  /// after the first do nothing.
  virtual void Shutdown(absl::Duration grace) = 0;
  /// Returns after Shutdown is done.
  virtual void Wait() = 0;
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_EMBEDDING_SERVER_H_
