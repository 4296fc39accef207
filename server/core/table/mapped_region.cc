#include "server/core/table/mapped_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::core {
namespace {

absl::Status CannotMap(std::size_t size, absl::string_view why) {
  return Error(absl::StatusCode::kResourceExhausted, "OUT_OF_MEMORY",
               absl::StrCat("cannot map ", size, " bytes of the file: ", why));
}

// The pages around some bytes, as mmap and madvise want them.
struct Pages {
  std::byte* begin;
  std::size_t size;
};

Pages PagesAround(const std::byte* data, std::size_t size) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::size_t lead = reinterpret_cast<std::uintptr_t>(data) % page;
  const std::size_t whole = (lead + size + page - 1) / page * page;
  return {const_cast<std::byte*>(data) - lead, whole};
}

}  // namespace

absl::StatusOr<MappedRegion> MappedRegion::Map(int descriptor, std::uint64_t offset, std::size_t size) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t lead = offset % page;
  MappedRegion region;
  region.descriptor_ = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (region.descriptor_ < 0) return CannotMap(size, std::generic_category().message(errno));
  void* const start =
      mmap(nullptr, lead + size, PROT_READ, MAP_SHARED, region.descriptor_, static_cast<off_t>(offset - lead));
  if (start == MAP_FAILED) return CannotMap(size, std::generic_category().message(errno));
  region.data_ = static_cast<const std::byte*>(start) + lead;
  region.size_ = size;
  region.file_end_ = offset + size;
  const Pages pages = PagesAround(region.data_, size);
  region.slot_ = GuardMapping(pages.begin, pages.size, MappingUse::kRead);
  if (region.slot_ == nullptr) return CannotMap(size, absl::StrCat("more than ", kMaxRegions, " tables are mapped"));
  return region;
}

MappedRegion::MappedRegion(MappedRegion&& other) noexcept { *this = std::move(other); }

MappedRegion& MappedRegion::operator=(MappedRegion&& other) noexcept {
  if (this != &other) {
    Unmap();
    slot_ = std::exchange(other.slot_, nullptr);
    descriptor_ = std::exchange(other.descriptor_, -1);
    file_end_ = std::exchange(other.file_end_, 0);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

MappedRegion::~MappedRegion() { Unmap(); }

void MappedRegion::Unmap() {
  if (slot_ != nullptr) ReleaseMapping(*slot_);
  if (data_ != nullptr) {
    const Pages pages = PagesAround(data_, size_);
    munmap(pages.begin, pages.size);
  }
  if (descriptor_ >= 0) close(descriptor_);
}

bool MappedRegion::damaged() const {
  if (slot_ == nullptr) return false;
  if (slot_->damaged.load(std::memory_order_acquire)) return true;
  struct stat status {};
  // Within the file's last page, what is cut off reads as zeros without a signal.
  if (fstat(descriptor_, &status) == 0 && static_cast<std::uint64_t>(status.st_size) >= file_end_) return false;
  slot_->damaged.store(true, std::memory_order_release);
  return true;
}

void MappedRegion::Advise(Access access) const {
  const Pages pages = PagesAround(data_, size_);
  madvise(pages.begin, pages.size, access == Access::kSequential ? MADV_SEQUENTIAL : MADV_RANDOM);
}

}  // namespace embd::core
