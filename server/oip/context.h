#ifndef EMBD_SERVER_OIP_CONTEXT_H_
#define EMBD_SERVER_OIP_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "server/oip/servables.h"
#include "server/service/backend.h"
#include "server/service/model_control.h"
#include "server/service/statistics.h"
#include "server/service/worker_pool.h"

namespace embd::oip {

/// What the configuration says of this protocol.
struct Options {
  std::string server_name = "embd";
  Datatype output_datatype = ::inference::TYPE_FP32;  ///< of requests that do not say it: FP32, FP16 or BF16
};

/// What the calls of this protocol share with each other and with those of the other services.
///
/// Ownership: what it refers to outlives it, and it outlives every call. Thread safety: as Backend.
struct Context {
  service::Backend& backend;
  service::ModelControl& control;
  service::WorkerPool& loads;         ///< that load; end before `control` does
  service::WorkerPool& unloads;       ///< that unload; end before `control` does
  const std::atomic<bool>& ready;     ///< set once the models are there that the server must have
  const std::atomic<bool>& stopping;  ///< set once health checks are told that it stops
  const Options options;
  Servables servables;

  // What service::PooledCall uses.
  service::Statistics& statistics = backend.statistics;
  service::WorkerPool& workers = backend.workers;
  service::Gate& gate = backend.gate;
  const std::int64_t max_request_bytes = backend.max_request_bytes;
};

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_CONTEXT_H_
