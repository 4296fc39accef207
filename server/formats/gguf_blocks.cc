#include "server/formats/gguf_blocks.h"

#include <array>
#include <cstdint>

#include "server/core/tensor/float_bits.h"

namespace embd::formats {
namespace {

constexpr std::size_t kSmallBlock = 32;  // values
constexpr std::size_t kSuperBlock = 256;

using Bytes = std::span<const std::byte>;

unsigned Unsigned(std::byte byte) { return std::to_integer<unsigned>(byte); }
float Low(std::byte byte) { return static_cast<float>(Unsigned(byte) & 0xFu); }
float High(std::byte byte) { return static_cast<float>(Unsigned(byte) >> 4); }
float Signed(std::byte byte) { return static_cast<float>(static_cast<std::int8_t>(byte)); }

float Half(Bytes bytes) {
  return core::HalfToFloat(static_cast<std::uint16_t>(Unsigned(bytes[0]) | Unsigned(bytes[1]) << 8));
}

/// Scale and offset of one of the eight groups of a Q4_K block.
struct ScaleAndOffset {
  float scale;
  float offset;
};

ScaleAndOffset Unpack(Bytes packed, std::size_t group) {
  if (group < 4) {
    return {static_cast<float>(Unsigned(packed[group]) & 63u), static_cast<float>(Unsigned(packed[group + 4]) & 63u)};
  }
  const unsigned low = Unsigned(packed[group + 4]);
  return {static_cast<float>((low & 0xFu) | (Unsigned(packed[group - 4]) >> 6) << 4),
          static_cast<float>((low >> 4) | (Unsigned(packed[group]) >> 6) << 4)};
}

void DecodeHalfOfQ6_K(Bytes nibbles, Bytes upper, Bytes scales, float d, std::span<float> out) {
  for (std::size_t l = 0; l < 32; ++l) {
    const unsigned bits = Unsigned(upper[l]);
    const std::array<unsigned, 4> low = {Unsigned(nibbles[l]) & 0xFu, Unsigned(nibbles[l + 32]) & 0xFu,
                                         Unsigned(nibbles[l]) >> 4, Unsigned(nibbles[l + 32]) >> 4};
    for (std::size_t k = 0; k < low.size(); ++k) {
      const auto q = static_cast<int>(low[k] | (bits >> (2 * k) & 3u) << 4) - 32;
      out[32 * k + l] = d * Signed(scales[2 * k + l / 16]) * static_cast<float>(q);
    }
  }
}

}  // namespace

void DecodeQ4_0(Bytes blocks, std::span<float> out) {
  for (; out.size() >= kSmallBlock; blocks = blocks.subspan(18), out = out.subspan(kSmallBlock)) {
    const float d = Half(blocks);
    for (std::size_t j = 0; j < kSmallBlock / 2; ++j) {
      out[j] = (Low(blocks[2 + j]) - 8.0f) * d;
      out[j + kSmallBlock / 2] = (High(blocks[2 + j]) - 8.0f) * d;
    }
  }
}

void DecodeQ8_0(Bytes blocks, std::span<float> out) {
  for (; out.size() >= kSmallBlock; blocks = blocks.subspan(34), out = out.subspan(kSmallBlock)) {
    const float d = Half(blocks);
    for (std::size_t j = 0; j < kSmallBlock; ++j) out[j] = Signed(blocks[2 + j]) * d;
  }
}

void DecodeQ4_K(Bytes blocks, std::span<float> out) {
  for (; out.size() >= kSuperBlock; blocks = blocks.subspan(144), out = out.subspan(kSuperBlock)) {
    const float d = Half(blocks);
    const float m = Half(blocks.subspan(2));
    for (std::size_t group = 0; group < 8; ++group) {
      const ScaleAndOffset packed = Unpack(blocks.subspan(4, 12), group);
      const float scale = d * packed.scale;
      const float offset = m * packed.offset;
      const Bytes nibbles = blocks.subspan(16 + group / 2 * 32, 32);
      for (std::size_t l = 0; l < 32; ++l) {
        out[32 * group + l] = scale * (group % 2 == 0 ? Low(nibbles[l]) : High(nibbles[l])) - offset;
      }
    }
  }
}

void DecodeQ6_K(Bytes blocks, std::span<float> out) {
  for (; out.size() >= kSuperBlock; blocks = blocks.subspan(210), out = out.subspan(kSuperBlock)) {
    const float d = Half(blocks.subspan(208));
    for (std::size_t half = 0; half < 2; ++half) {
      DecodeHalfOfQ6_K(blocks.subspan(64 * half, 64), blocks.subspan(128 + 32 * half, 32),
                       blocks.subspan(192 + 8 * half, 8), d, out.subspan(128 * half, 128));
    }
  }
}

}  // namespace embd::formats
