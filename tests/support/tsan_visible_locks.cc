// For the thread sanitizer only. Debian's gRPC and Abseil are not instrumented, so it sees neither their locks nor how
// gRPC hands a call from one thread to another, and would report every object that passes through gRPC. These
// definitions stand before the libraries' own, call them, and tell the sanitizer what they order:
//   - an absl::Mutex orders like any lock;
//   - what a thread did before it started an operation of gRPC is seen by whatever thread gRPC runs next on account of
//   it.
//     Its callback is wrapped to say so, a completion queue says so when it hands out a tag, and since gRPC takes a
//     lock before it runs most else, so does every lock.
// Races between our own threads, and between gRPC's threads inside our code, are reported as ever.

#include <dlfcn.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <sanitizer/tsan_interface.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#define EMBD_UNSEEN __attribute__((no_sanitize("thread"), visibility("default")))

namespace {

char started_operations;  // stands for all operations that have been started

template <typename Function>
EMBD_UNSEEN Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

EMBD_UNSEEN void Acquired(void* mutex) {
  __tsan_acquire(mutex);
  __tsan_acquire(&started_operations);
}

// The callback of an operation, as gRPC's core lays it out (grpc/impl/codegen/grpc_types.h:
// grpc_completion_queue_functor).
struct Functor {
  void (*run)(Functor* self, int ok);
};

using Run = void (*)(Functor* self, int ok);

// The functions that callbacks run: each class of gRPC's has one, so there are few. RunWatched<i> stands in for the
// ith. It is found by the function, not by the callback, which may be copied.
constexpr std::size_t kMaxRuns = 32;
std::atomic<Run> runs[kMaxRuns];

template <std::size_t index>
EMBD_UNSEEN void RunWatched(Functor* functor, int ok) {
  const Run run = runs[index].load(std::memory_order_acquire);
  __tsan_acquire(functor);
  __tsan_acquire(&started_operations);
  run(functor, ok);
  __tsan_release(&started_operations);
}

template <std::size_t... indices>
constexpr std::array<Run, kMaxRuns> AllRunWatched(std::index_sequence<indices...> /*all*/) {
  return {RunWatched<indices>...};
}
constexpr std::array<Run, kMaxRuns> kRunWatched = AllRunWatched(std::make_index_sequence<kMaxRuns>());

// Whether `tag` is a callback: its first word points at one of gRPC's functions that run one. (Other tags are objects
// with a virtual table.)
EMBD_UNSEEN bool IsCallback(const void* function) {
  Dl_info info;
  return dladdr(function, &info) != 0 && info.dli_sname != nullptr &&
         std::strstr(info.dli_sname, "StaticRun") != nullptr;
}

EMBD_UNSEEN void WatchCallback(void* tag) {
  if (tag == nullptr) return;
  auto* const functor = static_cast<Functor*>(tag);
  __tsan_release(functor);
  const Run run = functor->run;
  for (std::size_t i = 0; i < kMaxRuns; ++i) {
    if (run == kRunWatched[i]) return;  // watched already
    Run known = runs[i].load(std::memory_order_acquire);
    if (known == nullptr) {
      if (!IsCallback(reinterpret_cast<const void*>(run))) return;
      if (runs[i].compare_exchange_strong(known, run)) known = run;
    }
    if (known != run) continue;
    functor->run = kRunWatched[i];
    return;
  }
  std::abort();  // there are more kinds of callbacks than kMaxRuns
}

}  // namespace

extern "C" {

// absl::Mutex, by the names that Debian's library exports.

EMBD_UNSEEN void _ZN4absl7debian35Mutex4LockEv(void* mutex) {
  static const auto next = Next<void (*)(void*)>("_ZN4absl7debian35Mutex4LockEv");
  next(mutex);
  Acquired(mutex);
}
EMBD_UNSEEN void _ZN4absl7debian35Mutex6UnlockEv(void* mutex) {
  static const auto next = Next<void (*)(void*)>("_ZN4absl7debian35Mutex6UnlockEv");
  __tsan_release(mutex);
  next(mutex);
}
EMBD_UNSEEN bool _ZN4absl7debian35Mutex7TryLockEv(void* mutex) {
  static const auto next = Next<bool (*)(void*)>("_ZN4absl7debian35Mutex7TryLockEv");
  const bool locked = next(mutex);
  if (locked) Acquired(mutex);
  return locked;
}
EMBD_UNSEEN void _ZN4absl7debian319ReleasableMutexLock7ReleaseEv(void** lock) {
  static const auto next = Next<void (*)(void**)>("_ZN4absl7debian319ReleasableMutexLock7ReleaseEv");
  if (*lock != nullptr) __tsan_release(*lock);
  next(lock);
}
EMBD_UNSEEN void _ZN4absl7debian37CondVar4WaitEPNS0_5MutexE(void* condition, void* mutex) {
  static const auto next = Next<void (*)(void*, void*)>("_ZN4absl7debian37CondVar4WaitEPNS0_5MutexE");
  __tsan_release(mutex);
  next(condition, mutex);
  Acquired(mutex);
}

// gRPC's operations.

EMBD_UNSEEN grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, std::size_t count, void* tag,
                                                  void* reserved) {
  static const auto next = Next<decltype(&grpc_call_start_batch)>("grpc_call_start_batch");
  __tsan_release(&started_operations);
  WatchCallback(tag);
  return next(call, ops, count, tag, reserved);
}

EMBD_UNSEEN grpc_event grpc_completion_queue_next(grpc_completion_queue* queue, gpr_timespec deadline, void* reserved) {
  static const auto next = Next<decltype(&grpc_completion_queue_next)>("grpc_completion_queue_next");
  const grpc_event event = next(queue, deadline, reserved);
  __tsan_acquire(&started_operations);
  return event;
}

EMBD_UNSEEN int grpc_byte_buffer_reader_init(grpc_byte_buffer_reader* reader, grpc_byte_buffer* buffer) {
  static const auto next = Next<decltype(&grpc_byte_buffer_reader_init)>("grpc_byte_buffer_reader_init");
  __tsan_acquire(&started_operations);
  return next(reader, buffer);
}

}  // extern "C"
