#ifndef EMBD_SERVER_CORE_TABLE_CHECKSUM_H_
#define EMBD_SERVER_CORE_TABLE_CHECKSUM_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "server/core/table/table.h"

namespace embd::core {

/// The SHA-256 of `bytes` as 64 lower-case hexadecimal digits; empty only where libcrypto has no memory left.
/// Cost: one pass, about 1 GB/s, more on CPUs with SHA instructions.
[[nodiscard]] std::string Sha256Hex(std::span<const std::byte> bytes);

/// The same for bytes that come in pieces, one after the other.
///
/// Thread safety: for one thread at a time. Ownership: movable, not copyable.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  ~Sha256();

  void Update(std::span<const std::byte> piece);

  /// What `Sha256Hex` says of all pieces together. Ends the work: no other call may follow.
  [[nodiscard]] std::string Hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The SHA-256 of the table's elements, row-major and little-endian in their stored type: what sha256sum says of the
/// raw array. The shape does not enter.
[[nodiscard]] std::string TableChecksum(const Table& table);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TABLE_CHECKSUM_H_
