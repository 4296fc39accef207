#ifndef EMBD_SERVER_SERVICE_REGION_FILE_H_
#define EMBD_SERVER_SERVICE_REGION_FILE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace embd::service {

/// An open file, closed at the end. Ownership: movable, not copyable.
class RegionFile {
 public:
  /// Opens the file at `path` for reading and writing. The path is absolute and begins with `prefix`, and has no
  /// component that is empty, "." or ".."; what follows the prefix's last '/' is no symbolic link, component by
  /// component, so that nobody leads out of the prefix. The file is regular and has at least `end` bytes. Opening
  /// waits for nothing and changes nothing, whatever is there.
  ///
  /// Errors:
  ///   PERMISSION_DENIED  [REGION_FORBIDDEN] the path does not begin with `prefix`, or leads elsewhere.
  ///   INVALID_ARGUMENT   [CANNOT_MAP] there is no such file, no regular one, or a shorter one; with the system's
  ///   reason.
  [[nodiscard]] static absl::StatusOr<RegionFile> Open(const std::string& prefix, const std::string& path,
                                                       std::int64_t end);

  RegionFile(RegionFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  RegionFile& operator=(RegionFile&&) = delete;
  ~RegionFile();

  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  explicit RegionFile(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_REGION_FILE_H_
