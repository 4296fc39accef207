#ifndef EMBD_TESTS_INTEGRATION_ROUTES_RANDOM_SERVER_H_
#define EMBD_TESTS_INTEGRATION_ROUTES_RANDOM_SERVER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/integration/routes/draw.h"
#include "tests/integration/routes/random_models.h"
#include "tests/integration/routes/routes.h"
#include "tests/support/embd_process.h"

namespace embd::testing {

/// A number from the environment, for long runs by hand.
[[nodiscard]] std::int64_t FromEnvironment(const char* variable, std::int64_t by_default);

/// The process `embd` with random models, which may be asked for 1000 x 1000 cells and 512 KiB at most, and the routes
/// to it.
class RandomServer {
 public:
  /// Ends the program where the server does not start.
  explicit RandomServer(Draw& draw);
  RandomServer(const RandomServer&) = delete;
  RandomServer& operator=(const RandomServer&) = delete;
  ~RandomServer();

  [[nodiscard]] const std::vector<RandomModel>& models() const { return models_.models; }
  [[nodiscard]] const Routes& routes() const { return *routes_; }
  [[nodiscard]] pid_t pid() const { return process_->pid(); }

  /// Ends the server; whether it was running until then, and ended as servers should. No route leads anywhere then.
  [[nodiscard]] bool Stop();

 private:
  std::string folder_;
  RandomModels models_;
  std::optional<EmbdProcess> process_;
  std::optional<Routes> routes_;
};

}  // namespace embd::testing

#endif  // EMBD_TESTS_INTEGRATION_ROUTES_RANDOM_SERVER_H_
