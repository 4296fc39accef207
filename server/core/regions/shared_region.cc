#include "server/core/regions/shared_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::core {
namespace {

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE of Linux 5.14, which older headers do not name

absl::Status CannotMap(std::size_t size, absl::string_view why) {
  return InvalidArgument("CANNOT_MAP", absl::StrCat("cannot map ", size, " bytes of the file: ", why));
}

std::size_t PageSize() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// Writes to every page what stands there. As one operation, so that nothing is lost that the other process writes
// meanwhile.
void TouchPages(std::byte* pages, std::size_t size) {
  const std::size_t page = PageSize();
  for (std::size_t at = 0; at < size; at += page) {
    auto* const byte = reinterpret_cast<unsigned char*>(pages + at);
    unsigned char value = __atomic_load_n(byte, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(byte, &value, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedRegion>> SharedRegion::Map(int descriptor, std::uint64_t offset,
                                                                std::size_t size) {
  const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return CannotMap(size, std::generic_category().message(errno));
  std::unique_ptr<SharedRegion> region(new SharedRegion(own, offset, size));
  if (absl::Status status = region->Map(); !status.ok()) return status;
  return region;
}

SharedRegion::SharedRegion(int descriptor, std::uint64_t offset, std::size_t size)
    : descriptor_(descriptor), offset_(offset), size_(size) {}

SharedRegion::~SharedRegion() {
  if (slot_ != nullptr) ReleaseMapping(*slot_);
  if (pages_ != nullptr) munmap(pages_, static_cast<std::size_t>(data_ - pages_) + size_);
  close(descriptor_);
}

absl::Status SharedRegion::Map() {
  const std::size_t lead = offset_ % PageSize();  // pages may be larger than 4096 bytes
  void* const start =
      mmap(nullptr, lead + size_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, static_cast<off_t>(offset_ - lead));
  if (start == MAP_FAILED) return CannotMap(size_, std::generic_category().message(errno));
  pages_ = static_cast<std::byte*>(start);
  data_ = pages_ + lead;
  const std::size_t whole_pages = (lead + size_ + PageSize() - 1) / PageSize() * PageSize();
  slot_ = GuardMapping(start, whole_pages, MappingUse::kWrite);
  if (slot_ == nullptr) {
    return Error(absl::StatusCode::kResourceExhausted, "TOO_MANY_REGIONS",
                 absl::StrCat("this process has ", kMaxRegions, " regions, and can have no more"));
  }
  return Populate();
}

absl::Status SharedRegion::Populate() const {
  const std::size_t mapped = static_cast<std::size_t>(data_ - pages_) + size_;
  int result = madvise(pages_, mapped, kPopulateWrite);
  while (result != 0 && errno == EINTR) result = madvise(pages_, mapped, kPopulateWrite);
  if (result != 0 && errno != EINVAL) return CannotMap(size_, "there is no memory for it, or its file was cut short");
  if (result != 0) TouchPages(pages_, mapped);
  return damaged() ? CannotMap(size_, "there is no memory for it, or its file was cut short") : absl::OkStatus();
}

bool SharedRegion::damaged() const {
  if (slot_->damaged.load(std::memory_order_acquire)) return true;
  struct stat status {};
  // Within the file's last page, what is cut off is lost without a signal.
  if (fstat(descriptor_, &status) == 0 && static_cast<std::uint64_t>(status.st_size) >= offset_ + size_) return false;
  slot_->damaged.store(true, std::memory_order_release);
  return true;
}

}  // namespace embd::core
