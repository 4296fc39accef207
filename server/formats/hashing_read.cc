#include "server/formats/hashing_read.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "server/core/table/checksum.h"

namespace embd::formats {
namespace {

// Memory that is touched for the first time costs as much as reading does, on virtual machines many times as much; so
// several threads share that.
constexpr std::size_t kMaxReaders = 4;
constexpr std::size_t kWorthThreads = 2 * kPassingBytes;

/// Reads a part of a file into memory piece by piece, on threads of its own and on the caller's.
class SharedRead {
 public:
  SharedRead(const FileReader& file, std::uint64_t offset, std::span<std::byte> out)
      : file_(file), offset_(offset), out_(out), states_((out.size() + kPassingBytes - 1) / kPassingBytes) {
    if (out.size() < kWorthThreads) return;
    const std::size_t readers = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMaxReaders);
    try {
      for (std::size_t i = 0; i < readers; ++i) threads_.emplace_back([this] { ReadAhead(); });
    } catch (const std::system_error&) {
      // No more threads to be had: the caller reads what is left.
    }
  }
  SharedRead(const SharedRead&) = delete;
  SharedRead& operator=(const SharedRead&) = delete;
  ~SharedRead() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  [[nodiscard]] std::size_t piece_count() const { return states_.size(); }

  [[nodiscard]] std::span<std::byte> Piece(std::size_t index) const {
    const std::size_t begin = index * kPassingBytes;
    return out_.subspan(begin, std::min(kPassingBytes, out_.size() - begin));
  }

  /// Returns once the piece is there. What no thread has begun, or has failed at, is read here.
  [[nodiscard]] absl::Status Need(std::size_t index) {
    if (Take(index)) return Read(index);
    states_[index].wait(State::kTaken, std::memory_order_acquire);
    return states_[index].load(std::memory_order_acquire) == State::kRead ? absl::OkStatus() : Read(index);
  }

 private:
  enum class State : std::uint8_t { kUntouched, kTaken, kRead, kFailed };

  bool Take(std::size_t index) {
    State untouched = State::kUntouched;
    return states_[index].compare_exchange_strong(untouched, State::kTaken);
  }

  absl::Status Read(std::size_t index) const { return file_.ReadAt(offset_ + index * kPassingBytes, Piece(index)); }

  void ReadAhead() {
    for (std::size_t index = next_++; index < states_.size() && !stop_; index = next_++) {
      if (!Take(index)) continue;
      const State state = Read(index).ok() ? State::kRead : State::kFailed;
      states_[index].store(state, std::memory_order_release);
      states_[index].notify_one();
    }
  }

  const FileReader& file_;
  const std::uint64_t offset_;
  const std::span<std::byte> out_;
  std::vector<std::atomic<State>> states_;  // of the pieces
  std::atomic<std::size_t> next_ = 0;       // that nobody has looked at ahead
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

absl::StatusOr<std::string> ReadAndHash(const FileReader& file, std::uint64_t offset, std::span<std::byte> out,
                                        core::NanCounter& nans) {
  SharedRead read(file, offset, out);
  core::Sha256 hash;
  for (std::size_t i = 0; i < read.piece_count(); ++i) {
    if (auto status = read.Need(i); !status.ok()) return status;
    hash.Update(read.Piece(i));
    nans.Add(read.Piece(i));
  }
  return hash.Hex();
}

}  // namespace embd::formats
