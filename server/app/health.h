#ifndef EMBD_SERVER_APP_HEALTH_H_
#define EMBD_SERVER_APP_HEALTH_H_

#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "grpcpp/health_check_service_interface.h"
#include "server/core/threads/mutex.h"

namespace embd::app {

/// What health checks are told of names: "" for the server, services and models.
///
/// Thread safety: thread-safe.
class Health {
 public:
  /// `name` is SERVING or NOT_SERVING. Checks hear of it from Serve on, and of nothing after Stop.
  void Set(const std::string& name, bool serving);

  /// Tells `service` what has been set and what will be. It must stay until Stop, or until nobody calls Set any more.
  void Serve(grpc::HealthCheckServiceInterface* service);

  /// Whether the server as a whole ("") is SERVING now.
  [[nodiscard]] bool IsServing() const;

  /// Everything is NOT_SERVING for good.
  void Stop();

 private:
  mutable core::Mutex mutex_;
  std::map<std::string, bool> names_ ABSL_GUARDED_BY(mutex_);
  grpc::HealthCheckServiceInterface* service_ ABSL_GUARDED_BY(mutex_) = nullptr;  // null before Serve and after Stop
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_HEALTH_H_
