#ifndef EMBD_CLIENT_SRC_ID_INDEX_H_
#define EMBD_CLIENT_SRC_ID_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace embd::client {

/// A map from ids, which are at least 0, to numbers below kNone, of a fixed capacity.
///
/// Cost: constant a call, on average. Thread safety: thread-compatible.
class IdIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  explicit IdIndex(std::size_t capacity) : entries_(EntriesFor(capacity)) {}

  /// The memory of an index of that capacity.
  [[nodiscard]] static std::size_t BytesFor(std::size_t capacity) { return EntriesFor(capacity) * sizeof(Entry); }

  /// The number of `id`, or kNone.
  [[nodiscard]] std::uint32_t Find(std::int64_t id) const { return entries_[EntryOf(id)].number; }

  /// Adds `id`, which is not there; at most `capacity` ids are there at a time.
  void Insert(std::int64_t id, std::uint32_t number) { entries_[EntryOf(id)] = {id, number}; }

  /// Takes out `id`, which is there.
  void Erase(std::int64_t id) {
    std::size_t hole = EntryOf(id);
    // What was pushed past the hole by what stood in it moves up, or it would not be found any more.
    for (std::size_t next = Next(hole); entries_[next].number != kNone; next = Next(next)) {
      const std::size_t home = HomeOf(entries_[next].id);
      const bool reaches = hole < next ? (home <= hole || home > next) : (home <= hole && home > next);
      if (!reaches) continue;
      entries_[hole] = entries_[next];
      hole = next;
    }
    entries_[hole].number = kNone;
  }

 private:
  struct Entry {
    std::int64_t id = 0;
    std::uint32_t number = kNone;
  };

  // At least one stays free, at which searches end.
  static std::size_t EntriesFor(std::size_t capacity) { return capacity + capacity / 2 + 2; }

  [[nodiscard]] std::size_t HomeOf(std::int64_t id) const {
    const std::uint64_t mixed = (static_cast<std::uint64_t>(id) * 0x9E3779B97F4A7C15u) >> 32;
    return static_cast<std::size_t>((mixed * entries_.size()) >> 32);
  }
  [[nodiscard]] std::size_t Next(std::size_t entry) const { return entry + 1 == entries_.size() ? 0 : entry + 1; }
  // Where `id` is, or belongs.
  [[nodiscard]] std::size_t EntryOf(std::int64_t id) const {
    std::size_t entry = HomeOf(id);
    while (entries_[entry].number != kNone && entries_[entry].id != id) entry = Next(entry);
    return entry;
  }

  std::vector<Entry> entries_;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_ID_INDEX_H_
