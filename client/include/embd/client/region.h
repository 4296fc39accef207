#ifndef EMBD_CLIENT_REGION_H_
#define EMBD_CLIENT_REGION_H_

#include <cstdint>
#include <string>

namespace embd::client {

/// A file of shared memory, or a part of one, that a server maps under a name.
struct Region {
  /// By what requests name it: [A-Za-z0-9][A-Za-z0-9._-]{0,127}.
  std::string name = {};
  /// The file, as the server sees it: an absolute path that begins with ServerInfo::shared_memory_prefix.
  std::string path = {};
  /// Where in the file, in bytes: a multiple of 4096.
  std::int64_t offset = 0;
  /// At least 1.
  std::int64_t byte_size = 0;

  friend bool operator==(const Region&, const Region&) = default;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_REGION_H_
