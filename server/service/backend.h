#ifndef EMBD_SERVER_SERVICE_BACKEND_H_
#define EMBD_SERVER_SERVICE_BACKEND_H_

#include <cstdint>
#include <memory>
#include <string>

#include "server/core/engine/embed_plan.h"
#include "server/core/engine/model_registry.h"
#include "server/service/gate.h"
#include "server/service/reply_buffers.h"
#include "server/service/shared_regions.h"
#include "server/service/statistics.h"
#include "server/service/worker_pool.h"

namespace embd::service {

/// What all services of one server share.
///
/// Ownership: outlives the services and every call. Thread safety: the constants never change, the rest is thread-safe.
struct Backend {
  const core::EmbedLimits limits;
  const std::int64_t max_request_bytes;
  const std::int64_t max_bytes_in_flight;
  const std::string version;  ///< of the program
  const std::string build;    ///< compiler and build type
  Gate gate;                  ///< that every call passes
  core::ModelRegistry models;
  const std::shared_ptr<ReplyBuffers> buffers;
  SharedRegions regions;   ///< that callers have registered
  Statistics statistics;   ///< of the models, over all protocols
  WorkerPool workers;      ///< for large requests
  WorkerPool diagnostics;  ///< for what may take minutes, such as NeighbourSimilarity
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_BACKEND_H_
