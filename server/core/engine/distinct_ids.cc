#include "server/core/engine/distinct_ids.h"

#include <bit>
#include <cstddef>
#include <random>

namespace embd::core {
namespace {

std::uint64_t DrawSecret() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

// Open addressing with linear probing, at most half full.
class IdIndex {
 public:
  // The number of `id` in `ids`, at whose end it is put if it is new.
  std::int64_t Find(std::int64_t id, std::vector<std::int64_t>* ids) {
    std::size_t slot = Home(id);
    for (; slots_[slot] != kFree; slot = (slot + 1) & (slots_.size() - 1)) {
      if ((*ids)[slots_[slot]] == id) return slots_[slot];
    }
    slots_[slot] = static_cast<std::uint32_t>(ids->size());
    ids->push_back(id);
    if (2 * ids->size() > slots_.size()) Grow(*ids);
    return static_cast<std::int64_t>(ids->size()) - 1;
  }

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;  // no message has that many ids
  static constexpr std::size_t kFirstSlots = 256;

  [[nodiscard]] std::size_t Home(std::int64_t id) const {
    static const std::uint64_t secret = DrawSecret();
    std::uint64_t mixed = (static_cast<std::uint64_t>(id) ^ secret) * 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 32)) * (secret | 1);
    return static_cast<std::size_t>(mixed >> shift_);
  }

  void Grow(const std::vector<std::int64_t>& ids) {
    slots_.assign(2 * slots_.size(), kFree);
    --shift_;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      std::size_t slot = Home(ids[i]);
      while (slots_[slot] != kFree) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<std::uint32_t>(i);
    }
  }

  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(kFirstSlots, kFree);
  int shift_ = 64 - std::countr_zero(kFirstSlots);
};

}  // namespace

DistinctIds FindDistinct(std::span<const std::int64_t> ids) {
  DistinctIds distinct;
  distinct.inverse.reserve(ids.size());
  IdIndex index;
  for (const std::int64_t id : ids) distinct.inverse.push_back(index.Find(id, &distinct.ids));
  return distinct;
}

}  // namespace embd::core
