#include "server/core/table/mapping_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>

namespace embd::core {
namespace {

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler must not wait");

// Static, because a signal handler has nothing else to reach it by; constant-initialised, so there before any code
// runs.
constinit std::array<MappingSlot, kMaxMappingsOfAUse> read_slots;
constinit std::array<MappingSlot, kMaxMappingsOfAUse> write_slots;
constinit struct sigaction previous_action = {};
constinit std::uintptr_t page_bytes = 0;

// Puts zero pages from the faulting page to the mapping's end: a file that became shorter has lost all of them, and one
// block takes one entry in the kernel's list, which is bounded. Only system calls and lock-free atomics.
bool ReplaceLostPages(std::span<MappingSlot> slots, int protection, std::uintptr_t address) {
  for (MappingSlot& slot : slots) {
    const std::uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    const std::uintptr_t end = slot.end.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= end) continue;
    // Given back and taken anew meanwhile: the end is that of another mapping.
    if (slot.begin.load(std::memory_order_relaxed) != begin) continue;
    const std::uintptr_t page = address / page_bytes * page_bytes;
    slot.damaged.store(true, std::memory_order_release);
    return mmap(reinterpret_cast<void*>(page), end - page, protection,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
  }
  return false;
}

void PassOn(int signal, siginfo_t* info, void* context) {
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) return previous_action.sa_sigaction(signal, info, context);
  const bool sent = info->si_code <= 0;  // by a process, not by a fault: returning does not meet it again
  if (previous_action.sa_handler == SIG_IGN && sent) return;
  if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    return previous_action.sa_handler(signal);
  }
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  raise(signal);  // delivered when this handler returns
}

void HandleBusError(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const bool fault = info->si_code > 0;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (!fault || (!ReplaceLostPages(read_slots, PROT_READ, address) &&
                 !ReplaceLostPages(write_slots, PROT_READ | PROT_WRITE, address))) {
    PassOn(signal, info, context);
  }
  errno = saved_errno;
}

bool InstallHandler() {
  page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_sigaction = HandleBusError;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGBUS, nullptr, &previous_action) == 0 && sigaction(SIGBUS, &action, nullptr) == 0;
}

}  // namespace

MappingSlot* GuardMapping(void* begin, std::size_t size, MappingUse use) {
  static const bool installed = InstallHandler();
  if (!installed) return nullptr;
  for (MappingSlot& slot : use == MappingUse::kRead ? read_slots : write_slots) {
    bool taken = false;
    if (!slot.taken.compare_exchange_strong(taken, true)) continue;
    slot.damaged.store(false, std::memory_order_relaxed);
    slot.end.store(reinterpret_cast<std::uintptr_t>(begin) + size, std::memory_order_release);
    slot.begin.store(reinterpret_cast<std::uintptr_t>(begin), std::memory_order_release);
    return &slot;
  }
  return nullptr;
}

void ReleaseMapping(MappingSlot& slot) {
  slot.begin.store(0, std::memory_order_release);
  slot.taken.store(false, std::memory_order_release);
}

}  // namespace embd::core
