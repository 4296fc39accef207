#ifndef EMBD_CLIENT_SRC_BEARER_TOKEN_H_
#define EMBD_CLIENT_SRC_BEARER_TOKEN_H_

#include <sys/stat.h>

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/src/mutex.h"
#include "embd/client/options.h"

namespace embd::client {

/// The token that goes with each call. That of a file is read again when the file changes; what cannot be used then
/// leaves the one before in use.
///
/// Thread safety: thread-safe.
class BearerToken {
 public:
  /// The token that the options name; null: none.
  ///
  /// Errors, which never show the token:
  ///   INVALID_ARGUMENT  both a token and a file are given, the file cannot be read, or it is no token: printable ASCII
  ///                     without spaces.
  [[nodiscard]] static absl::StatusOr<std::shared_ptr<BearerToken>> Create(const ClientOptions& options);

  /// The value of the metadata `authorization`. Looks at the file at most once a second.
  [[nodiscard]] std::string Header();

 private:
  explicit BearerToken(std::string path) : path_(std::move(path)) {}

  absl::Status Take(absl::string_view option, absl::string_view text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status ReadFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;  // empty: the token does not change
  Mutex mutex_;
  std::string header_ ABSL_GUARDED_BY(mutex_);
  absl::Time next_look_ ABSL_GUARDED_BY(mutex_);
  struct stat taken_ ABSL_GUARDED_BY(mutex_) = {};
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_BEARER_TOKEN_H_
