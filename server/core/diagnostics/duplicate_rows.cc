#include "server/core/diagnostics/duplicate_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace embd::core {
namespace {

// Rows are sorted bucket by bucket, so that the hashes of those that are compared stay in a core's own cache.
constexpr std::size_t kBucketRows = 4096;
constexpr std::size_t kMaxBuckets = 4096;

// A duplicate and the row that it equals.
using Pair = std::pair<std::int64_t, std::int64_t>;

// The duplicates in one bucket, or in several.
struct Found {
  std::int64_t count = 0;
  std::vector<Pair> first;  // ascending

  void List(const Pair& pair, std::size_t max_listed) {
    if (first.size() == max_listed) {
      if (max_listed == 0 || first.back() < pair) return;
      first.pop_back();
    }
    first.insert(std::upper_bound(first.begin(), first.end(), pair), pair);
  }
};

// Writes the rows to `order`, bucket after bucket and ascending in each. Returns where each bucket begins, and the end.
std::vector<std::size_t> Distribute(std::span<const std::uint64_t> hashes, std::span<std::int64_t> order) {
  const std::size_t buckets = std::min(kMaxBuckets, std::bit_ceil(hashes.size() / kBucketRows + 1));
  const auto bucket_of = [mask = buckets - 1](std::uint64_t hash) { return static_cast<std::size_t>(hash) & mask; };
  std::vector<std::size_t> begins(buckets + 1, 0);
  for (const std::uint64_t hash : hashes) ++begins[bucket_of(hash) + 1];
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) begins[bucket + 1] += begins[bucket];
  std::vector<std::size_t> next = begins;
  for (std::size_t row = 0; row < hashes.size(); ++row) {
    order[next[bucket_of(hashes[row])]++] = static_cast<std::int64_t>(row);
  }
  return begins;
}

class Search {
 public:
  Search(const Table& table, std::span<const std::uint64_t> hashes, std::size_t max_listed)
      : table_(table), hashes_(hashes), max_listed_(max_listed) {}

  Found InBucket(std::span<std::int64_t> rows) const {
    std::sort(rows.begin(), rows.end(), [this](std::int64_t a, std::int64_t b) {
      return HashOf(a) != HashOf(b) ? HashOf(a) < HashOf(b) : a < b;
    });
    Found found;
    while (!rows.empty()) {
      const auto other = std::find_if(rows.begin(), rows.end(),
                                      [this, hash = HashOf(rows[0])](std::int64_t row) { return HashOf(row) != hash; });
      const auto size = static_cast<std::size_t>(other - rows.begin());
      if (size > 1) AmongEqualHashes(rows.first(size), &found);
      rows = rows.subspan(size);
    }
    return found;
  }

 private:
  std::uint64_t HashOf(std::int64_t row) const { return hashes_[static_cast<std::size_t>(row)]; }

  // `rows` ascend. Nearly always they are all equal, so that one of them is kept for the others to be compared with.
  void AmongEqualHashes(std::span<const std::int64_t> rows, Found* found) const {
    std::vector<std::int64_t> distinct;
    for (const std::int64_t row : rows) {
      const auto equal = std::find_if(distinct.begin(), distinct.end(), [this, row](std::int64_t earlier) {
        return std::memcmp(table_.row(earlier), table_.row(row), table_.row_bytes()) == 0;
      });
      if (equal == distinct.end()) {
        distinct.push_back(row);
      } else {
        ++found->count;
        found->List({row, *equal}, max_listed_);
      }
    }
  }

  const Table& table_;
  const std::span<const std::uint64_t> hashes_;
  const std::size_t max_listed_;
};

}  // namespace

absl::StatusOr<DuplicateRows> FindDuplicateRows(const Table& table, std::span<const std::uint64_t> hashes,
                                                std::span<std::int64_t> order, std::size_t max_listed, ShareOut share) {
  const std::vector<std::size_t> begins = Distribute(hashes, order);
  const Search search(table, hashes, max_listed);
  std::vector<Found> buckets(begins.size() - 1);
  const auto look = [&](std::int64_t index) {
    const auto bucket = static_cast<std::size_t>(index);
    buckets[bucket] = search.InBucket(order.subspan(begins[bucket], begins[bucket + 1] - begins[bucket]));
  };
  if (absl::Status status = share(static_cast<std::int64_t>(buckets.size()), look); !status.ok()) return status;

  Found all;
  for (const Found& found : buckets) {
    all.count += found.count;
    for (const Pair& pair : found.first) all.List(pair, max_listed);
  }
  DuplicateRows result = {.count = all.count};
  for (const auto& [row, earlier] : all.first) {
    result.first.push_back(row);
    result.of.push_back(earlier);
  }
  return result;
}

}  // namespace embd::core
