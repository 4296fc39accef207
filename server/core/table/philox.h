#ifndef EMBD_SERVER_CORE_TABLE_PHILOX_H_
#define EMBD_SERVER_CORE_TABLE_PHILOX_H_

#include <array>
#include <cstdint>

namespace embd::core {

/// One block of the counter-based generator Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2,
/// 3", 2011): 128 random bits that depend on `counter` and `key` alone, so any block can be had without those before
/// it.
[[nodiscard]] constexpr std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 4> counter,
                                                                std::array<std::uint32_t, 2> key) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TABLE_PHILOX_H_
