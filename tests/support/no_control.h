#ifndef EMBD_TESTS_SUPPORT_NO_CONTROL_H_
#define EMBD_TESTS_SUPPORT_NO_CONTROL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/service/model_control.h"

namespace embd::testing {

/// Never loads nor unloads.
class NoControl final : public service::ModelControl {
 public:
  [[nodiscard]] bool is_explicit() const override { return false; }
  [[nodiscard]] std::vector<Entry> Index() const override { return {}; }
  [[nodiscard]] absl::StatusOr<service::LoadedModel> LoadSince(const std::string& /*name*/,
                                                               Clock::time_point /*asked*/) override {
    return absl::FailedPreconditionError("off");
  }
  [[nodiscard]] absl::Status Unload(const std::string& /*name*/) override {
    return absl::FailedPreconditionError("off");
  }
};

}  // namespace embd::testing

#endif  // EMBD_TESTS_SUPPORT_NO_CONTROL_H_
