#ifndef EMBD_TESTS_STRESS_ACTOR_H_
#define EMBD_TESTS_STRESS_ACTOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "embd/client/embedding.h"
#include "server/core/threads/mutex.h"
#include "tests/stress/corpus.h"

namespace embd::stress {

class Actor;
class Life;

/// What threads do again and again: `begin` is called once a life, what it returns by all of the action's threads until
/// the life is over.
struct Action {
  using Step = std::function<void(Actor&)>;

  std::string name;
  int threads = 1;
  std::function<Step(Life&)> begin;
};

[[nodiscard]] std::vector<Action> AdminActions();
[[nodiscard]] std::vector<Action> DiagnosticActions();
[[nodiscard]] std::vector<Action> EmbeddingActions();
[[nodiscard]] std::vector<Action> GuardedActions();
[[nodiscard]] std::vector<Action> ImpatientActions();
[[nodiscard]] std::vector<Action> InferenceActions();
[[nodiscard]] std::vector<Action> ObservationActions();
[[nodiscard]] std::vector<Action> RegionActions();

/// What the load of a fleeting model may meet: its file is cut short, or it is not configured now.
[[nodiscard]] std::vector<absl::string_view> LoadRefusals();

/// How often each action met what: "OK", the reason of a refusal, or its code where it has no reason.
///
/// Thread safety: thread-safe.
class Tally {
 public:
  void Count(const std::string& action, const std::string& outcome);
  [[nodiscard]] bool WasAnswered(const std::string& action) const;
  /// A line an action.
  [[nodiscard]] std::string Text() const;

 private:
  mutable core::Mutex mutex_;
  std::map<std::string, std::map<std::string, std::int64_t>> counts_ ABSL_GUARDED_BY(mutex_);
};

/// The first answer to every question, which all others must equal.
///
/// Thread safety: thread-safe.
class Recall {
 public:
  void Expect(const std::string& question, const std::string& answer);

 private:
  core::Mutex mutex_;
  std::map<std::string, std::string> answers_ ABSL_GUARDED_BY(mutex_);
};

/// One thread of an action. What it checks and finds wrong is a failure of the test.
class Actor {
 public:
  /// The action's thread of that number, from 0.
  Actor(Life& life, const Action& action, int number, std::uint64_t seed)
      : life_(life), action_(action), number_(number), random_(seed) {}

  [[nodiscard]] int number() const { return number_; }

  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] std::string Among(const std::vector<std::string>& names);
  void Pause(std::int64_t max_microseconds);

  /// Whether a call was answered. Otherwise it must have met one of `refusals`, each a reason or the name of a code, or
  /// that the server had too much to do, or that it was shut down.
  bool Answered(const absl::Status& status, const std::vector<absl::string_view>& refusals = {});

  /// A batch's answer: the bytes of its tables, or a refusal that the model may meet, or one of `refusals`.
  void Expect(const Case& batch, const absl::StatusOr<client::Embedding>& answer,
              std::vector<absl::string_view> refusals = {});
  /// The same where the bytes came by another way.
  bool Answered(const Case& batch, const absl::Status& status, std::vector<absl::string_view> refusals = {});
  void ExpectBytes(const Case& batch, const std::string& checksum, absl::string_view bytes);

 private:
  Life& life_;
  const Action& action_;
  const int number_;
  Random random_;
};

}  // namespace embd::stress

#endif  // EMBD_TESTS_STRESS_ACTOR_H_
