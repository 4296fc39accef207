#include "embd/client/shared_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <random>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "embd/client/error.h"

namespace embd::client {
namespace {

constexpr int kUnregisterSeconds = 5;

absl::Status SystemError(int error, const std::string& path, absl::string_view what) {
  return absl::ErrnoToStatus(error, absl::StrCat("the shared memory ", path, " cannot be ", what));
}

std::string FreshName() {
  std::random_device random;
  return absl::StrCat(getpid(), "-", absl::Hex(random(), absl::kZeroPad8), absl::Hex(random(), absl::kZeroPad8));
}

// A file that this process has made, open, and still under its name unless Unlink was called.
class OwnFile {
 public:
  OwnFile(std::string path, mode_t permissions)
      : path_(std::move(path)),
        descriptor_(open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)),
        error_(descriptor_ < 0 ? errno : 0) {
    // The mask of this process has no say in who else may use it.
    if (descriptor_ >= 0 && fchmod(descriptor_, permissions) != 0) error_ = errno;
  }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;
  ~OwnFile() {
    if (descriptor_ < 0) return;
    unlink(path_.c_str());
    close(descriptor_);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Of making it; 0: none.
  [[nodiscard]] int error() const { return error_; }

 private:
  const std::string path_;
  const int descriptor_;
  int error_;
};

// Takes the pages now: a file system that is full is an error here, but a signal when a hole is written to.
absl::Status Reserve(const OwnFile& file, std::size_t byte_size) {
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(file.descriptor(), 0, static_cast<off_t>(byte_size));
  return error == 0 ? absl::OkStatus() : SystemError(error, file.path(), absl::StrCat("given ", byte_size, " bytes"));
}

}  // namespace

class SharedRegion::Registration {
 public:
  Registration(Client client, std::string name, std::span<std::byte> bytes)
      : client_(std::move(client)), name_(std::move(name)), bytes_(bytes) {}
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  // Also where Register has failed: a call whose answer was lost may have registered it.
  ~Registration() {
    client_.UnregisterRegion(name_, {.timeout = absl::Seconds(kUnregisterSeconds)}).IgnoreError();
    munmap(bytes_.data(), bytes_.size());
  }

  [[nodiscard]] absl::Status Register(const std::string& path) const {
    return client_.RegisterRegion({.name = name_, .path = path, .byte_size = static_cast<std::int64_t>(bytes_.size())});
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  const Client client_;
  const std::string name_;
  const std::span<std::byte> bytes_;
};

absl::StatusOr<SharedRegion> SharedRegion::Create(const Client& client, std::size_t byte_size,
                                                  const SharedRegionOptions& options) {
  constexpr auto kMaxBytes = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  if (byte_size == 0 || byte_size > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a region has 1 to ", kMaxBytes, " bytes, not ", byte_size));
  }
  std::string prefix = options.prefix;
  if (prefix.empty()) {
    auto info = client.GetServerInfo();
    if (!info.ok()) return info.status();
    prefix = std::move(info->shared_memory_prefix);
    if (prefix.empty()) {
      return ErrorWithReason(absl::StatusCode::kFailedPrecondition, "REGIONS_OFF",
                             "the server's configuration allows no shared memory");
    }
  }
  const std::string name = FreshName();
  const OwnFile file(prefix + name, static_cast<mode_t>(options.permissions));
  if (file.error() != 0) return SystemError(file.error(), file.path(), "made");
  if (absl::Status status = Reserve(file, byte_size); !status.ok()) return status;
  void* const memory =
      mmap(nullptr, byte_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file.descriptor(), 0);
  if (memory == MAP_FAILED) return SystemError(errno, file.path(), "mapped");
  auto registration =
      std::make_unique<Registration>(client, name, std::span(static_cast<std::byte*>(memory), byte_size));
  if (absl::Status status = registration->Register(file.path()); !status.ok()) return status;
  return SharedRegion(std::move(registration));
}

SharedRegion::SharedRegion(std::unique_ptr<Registration> registration) : registration_(std::move(registration)) {}
SharedRegion::SharedRegion(SharedRegion&&) noexcept = default;
SharedRegion& SharedRegion::operator=(SharedRegion&&) noexcept = default;
SharedRegion::~SharedRegion() = default;

const std::string& SharedRegion::name() const { return registration_->name(); }

std::span<std::byte> SharedRegion::bytes() const { return registration_->bytes(); }

SharedMemoryTarget SharedRegion::Target(std::int64_t offset) const {
  return {.region = name(), .offset = offset, .byte_size = static_cast<std::int64_t>(bytes().size()) - offset};
}

}  // namespace embd::client
