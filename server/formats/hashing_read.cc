#include "server/formats/hashing_read.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <system_error>
#include <thread>

#include "server/core/table/checksum.h"

namespace embd::formats {
namespace {

constexpr std::size_t kWorthAThread = 2 * kPassingBytes;

/// Hashes the beginning of a block of memory as it grows, on a thread of its own where there is one to be had.
class FollowingHash {
 public:
  explicit FollowingHash(std::span<const std::byte> block) : block_(block) {
    if (block.size() < kWorthAThread) return;
    try {
      thread_.emplace([this] { Follow(); });
    } catch (const std::system_error&) {
      // No thread to be had: `Advance` hashes by itself.
    }
  }
  FollowingHash(const FollowingHash&) = delete;
  FollowingHash& operator=(const FollowingHash&) = delete;
  ~FollowingHash() { Join(); }

  /// The first `filled` bytes are there and will not change.
  void Advance(std::size_t filled) {
    if (!thread_.has_value()) {
      hash_.Update(block_.subspan(hashed_, filled - hashed_));
      hashed_ = filled;
      return;
    }
    filled_.store(filled, std::memory_order_release);
    filled_.notify_one();
  }

  /// The hash of the whole block, all of which must be there.
  [[nodiscard]] std::string Finish() {
    Join();
    return hash_.Hex();
  }

 private:
  static constexpr std::size_t kStop = static_cast<std::size_t>(-1);

  void Follow() {
    while (hashed_ < block_.size()) {
      filled_.wait(hashed_, std::memory_order_acquire);
      const std::size_t filled = filled_.load(std::memory_order_acquire);
      if (filled == kStop) return;
      hash_.Update(block_.subspan(hashed_, filled - hashed_));
      hashed_ = filled;
    }
  }

  // Ends the thread: at once where the block was not filled to its end.
  void Join() {
    if (!thread_.has_value()) return;
    if (filled_.load(std::memory_order_relaxed) < block_.size()) Advance(kStop);
    thread_->join();
    thread_.reset();
  }

  const std::span<const std::byte> block_;
  core::Sha256 hash_;
  std::size_t hashed_ = 0;  // of the thread, where there is one
  std::atomic<std::size_t> filled_ = 0;
  std::optional<std::thread> thread_;
};

}  // namespace

absl::StatusOr<std::string> ReadAndHash(const FileReader& file, std::uint64_t offset, std::span<std::byte> out,
                                        core::NanCounter& nans) {
  FollowingHash hash(out);
  for (std::size_t filled = 0; filled < out.size();) {
    const auto piece = out.subspan(filled, std::min(kPassingBytes, out.size() - filled));
    if (auto status = file.ReadAt(offset + filled, piece); !status.ok()) return status;
    filled += piece.size();
    hash.Advance(filled);
    nans.Add(piece);
  }
  return hash.Finish();
}

}  // namespace embd::formats
