#ifndef EMBD_CLIENT_SHARED_REGION_H_
#define EMBD_CLIENT_SHARED_REGION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "embd/client/client.h"
#include "embd/client/embedding.h"

namespace embd::client {

/// How a SharedRegion is made.
struct SharedRegionOptions {
  /// How the file's path begins: as ServerInfo::shared_memory_prefix does; empty: exactly that.
  std::string prefix = {};
  /// Permissions of the file. The server must be able to read and write it: 0600 is enough for a server of the same
  /// user or of root.
  unsigned permissions = 0600;
};

/// Memory that this process and a server on the same machine share, for results that need not travel:
///
///     auto region = embd::client::SharedRegion::Create(*client, std::size_t{64} << 20);
///     request.output_target = region->Target();
///     auto info = client->EmbedToRegion(request);
///     auto values = region->As<float>().first(info->written->byte_size / sizeof(float));
///
/// The memory is taken and mapped once, by Create. Its file is unlinked as soon as the server has mapped it, so that
/// nothing stays behind where this process is killed; what does stay is the server's mapping, until it ends or somebody
/// unregisters the name. Calls that write to overlapping places at a time leave unspecified elements there.
///
/// Ownership: holds a copy of the client; movable, not copyable. Destruction unregisters the region, which asks the
/// server and takes up to five seconds where it does not answer, and unmaps it here: nobody may use `bytes` any more.
/// Thread safety: thread-compatible; `bytes` may be read by any thread.
class SharedRegion {
 public:
  /// Makes a region of `byte_size` bytes, all zero, and registers it.
  ///
  /// Cost: the system clears every page, about half a millisecond a MB.
  /// Errors:
  ///   FAILED_PRECONDITION  [REGIONS_OFF] the server maps none.
  ///   INVALID_ARGUMENT     byte_size is 0, or more than a file can have.
  ///   RESOURCE_EXHAUSTED   there is no room for the file.
  ///   PERMISSION_DENIED, NOT_FOUND and others, where the system does not make the file; with its reason.
  ///   Besides those of Client::GetServerInfo and Client::RegisterRegion.
  [[nodiscard]] static absl::StatusOr<SharedRegion> Create(const Client& client, std::size_t byte_size,
                                                           const SharedRegionOptions& options = {});

  SharedRegion(SharedRegion&&) noexcept;
  SharedRegion& operator=(SharedRegion&&) noexcept;
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;
  ~SharedRegion();

  /// The name under which the server knows it.
  [[nodiscard]] const std::string& name() const;

  /// The memory; begins at a page.
  [[nodiscard]] std::span<std::byte> bytes() const;

  /// The same as elements; what does not fill one at the end is left out.
  template <typename T>
  [[nodiscard]] std::span<T> As() const {
    return {reinterpret_cast<T*>(bytes().data()), bytes().size() / sizeof(T)};
  }

  /// The region from `offset` on, a multiple of 64, for EmbedRequest::output_target.
  [[nodiscard]] SharedMemoryTarget Target(std::int64_t offset = 0) const;

 private:
  class Registration;
  explicit SharedRegion(std::unique_ptr<Registration> registration);

  std::unique_ptr<Registration> registration_;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SHARED_REGION_H_
