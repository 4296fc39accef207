#ifndef EMBD_SERVER_CORE_THREADS_MUTEX_H_
#define EMBD_SERVER_CORE_THREADS_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

namespace embd::core {

/// std::mutex with clang's thread-safety annotations. (absl::Mutex has them too, but the thread sanitizer cannot see
/// the locks of Debian's build of Abseil.)
class ABSL_LOCKABLE Mutex {
 public:
  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

/// Holds a Mutex for the length of a scope.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(*mutex) { mutex_.lock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

/// A condition variable for a Mutex.
class Condition {
 public:
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }
  /// Releases `mutex`, waits for a notification (or none: ask again what is waited for), and takes it again.
  void Wait(Mutex* mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { condition_.wait(*mutex); }
  /// The same, for `timeout` at most.
  void WaitFor(Mutex* mutex, std::chrono::nanoseconds timeout) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    condition_.wait_for(*mutex, timeout);
  }

 private:
  std::condition_variable_any condition_;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_THREADS_MUTEX_H_
