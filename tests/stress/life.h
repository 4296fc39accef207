#ifndef EMBD_TESTS_STRESS_LIFE_H_
#define EMBD_TESTS_STRESS_LIFE_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "embd/client/client.h"
#include "server/app/embedding_server.h"
#include "server/config/server_config.h"
#include "server/core/threads/mutex.h"
#include "tests/stress/actor.h"
#include "tests/stress/certificates.h"
#include "tests/stress/corpus.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::stress {

/// What all lives of a server have in common.
struct World {
  World();
  ~World();

  const formats::ScratchFolder folder;
  const Corpus corpus{folder.Path("")};
  const Certificates certificates{folder.Path("certificates")};
  const std::string region_prefix;  ///< of files in /dev/shm, which are removed at the end
  Tally tally;
  Recall recall;
};

/// One life of a server with everything on, and of one beside it that asks for TLS and a token.
///
/// Thread safety: thread-safe, but for `End`.
class Life {
 public:
  explicit Life(World& world);

  [[nodiscard]] World& world() { return world_; }
  [[nodiscard]] const Corpus& corpus() const { return world_.corpus; }
  [[nodiscard]] const Certificates& certificates() const { return world_.certificates; }
  [[nodiscard]] app::EmbeddingServer& server() { return *server_; }
  [[nodiscard]] app::EmbeddingServer& guarded() { return *guarded_; }

  /// By TCP, trying once.
  [[nodiscard]] client::Client Tcp() const;
  /// By the Unix socket, trying again where a call may be.
  [[nodiscard]] client::Client Unix() const;
  /// Without any socket. Calls may begin only WhileServing: see EmbeddingServer::InProcessChannel.
  [[nodiscard]] client::Client InProcess() const;
  /// Runs `work`, which a shutdown waits for, unless there is one already.
  void WhileServing(absl::FunctionRef<void()> work);
  [[nodiscard]] std::string tcp_address() const { return server_->addresses()[0]; }
  [[nodiscard]] std::string unix_address() const { return server_->addresses()[1]; }

  /// What the server finds when it reads its configuration again.
  void Configure(int variant, const std::string& log_level);

  /// Whether the server may be found shut down.
  [[nodiscard]] bool ending() const { return ending_; }
  /// Whether actions go on.
  [[nodiscard]] bool over() const { return over_; }

  /// Shuts the servers down, whatever goes on, and then ends the actions.
  void End(absl::Duration grace);

 private:
  [[nodiscard]] config::ServerConfig Config() const;

  World& world_;
  mutable core::Mutex mutex_;
  int variant_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string log_level_ ABSL_GUARDED_BY(mutex_) = "off";
  core::Mutex serving_;  // held while the server must not be shut down
  std::atomic<bool> ending_ = false;
  std::atomic<bool> over_ = false;
  std::unique_ptr<app::EmbeddingServer> server_;
  std::unique_ptr<app::EmbeddingServer> guarded_;
};

}  // namespace embd::stress

#endif  // EMBD_TESTS_STRESS_LIFE_H_
