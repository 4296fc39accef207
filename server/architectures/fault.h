#ifndef EMBD_SERVER_ARCHITECTURES_FAULT_H_
#define EMBD_SERVER_ARCHITECTURES_FAULT_H_

#include <utility>

#include "absl/status/status.h"

namespace embd::architectures {

/// The first thing found wrong with a folder. Readers report here and go on with a stand-in value, so that a family
/// reads like a table; whoever started them asks at the end.
///
/// Thread safety: not thread-safe.
class Fault {
 public:
  void Report(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  [[nodiscard]] bool ok() const { return status_.ok(); }
  [[nodiscard]] const absl::Status& status() const { return status_; }

 private:
  absl::Status status_;
};

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_FAULT_H_
