#ifndef EMBD_SERVER_APP_METRICS_H_
#define EMBD_SERVER_APP_METRICS_H_

#include <cstdint>
#include <string>

#include "server/app/health.h"
#include "server/app/machine_figures.h"
#include "server/app/security.h"
#include "server/service/backend.h"

namespace embd::app {

/// All figures of a server, as Prometheus reads them: docs/operations.md lists them. They are collected when they are
/// asked for, from what is counted anyway.
///
/// Labels are bounded: models are those that were ever served, methods and codes are fixed, and whatever else a caller
/// names is `unknown`.
/// Thread safety: not thread-safe.
class Metrics {
 public:
  /// All outlive the object, and are not looked at before the first collection. `security` may be null.
  Metrics(const service::Backend* backend, const Health* health, const Security* security)
      : backend_(backend), health_(health), security_(security) {}

  /// Which of Triton's figures are told. Prometheus's own check of names refuses times in microseconds, and counters
  /// whose names do not end in _total; the latter pass it when they have no type.
  enum class Names {
    kChecked,  ///< those that pass the check, as figures without a type
    kTriton,   ///< all of them, with Triton's types
  };

  /// Everything, collected now. Cost: tens of microseconds, and a few for each model.
  [[nodiscard]] std::string Collect(Names names);

 private:
  const service::Backend* const backend_;
  const Health* const health_;
  const Security* const security_;
  MachineFigures last_;  // at the collection before this one
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_METRICS_H_
