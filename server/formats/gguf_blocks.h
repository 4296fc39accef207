#ifndef EMBD_SERVER_FORMATS_GGUF_BLOCKS_H_
#define EMBD_SERVER_FORMATS_GGUF_BLOCKS_H_

#include <cstddef>
#include <span>

// The quantised blocks of GGUF files, decoded to float32. Each function takes whole blocks, as many as `out` has room
// for; neither span need be aligned to more than its elements. All arithmetic is float32, one rounding an operation, in
// the order of ggml's reference decoders (ggml-quants.c), so that values equal theirs bit for bit. Scales d and m of a
// block are float16. Little-endian.
namespace embd::formats {

/// 32 values in 18 bytes: d, then 16 bytes. Value j is (n - 8) · d, with n the low nibble of byte j for j < 16, and the
/// high nibble of byte j - 16 from there on.
void DecodeQ4_0(std::span<const std::byte> blocks, std::span<float> out);

/// 32 values in 34 bytes: d, then 32 signed bytes q. Value j is q · d.
void DecodeQ8_0(std::span<const std::byte> blocks, std::span<float> out);

/// 256 values in 144 bytes: d, m, 12 bytes that hold eight pairs of 6-bit numbers (s, t), 128 bytes of nibbles. Value l
/// of group g (32 values each) is (d · s) · n - (m · t); groups 2i and 2i + 1 are the low and high nibbles of bytes 32i
/// to 32i + 31. The pairs: for g < 4 the low six bits of bytes g and g + 4; from there on a nibble of byte g + 4 (low
/// for s, high for t) below the two highest bits of bytes g - 4 and g.
void DecodeQ4_K(std::span<const std::byte> blocks, std::span<float> out);

/// 256 values in 210 bytes: 128 bytes of low nibbles, 64 bytes with two upper bits each for four values, 16 signed
/// bytes s, d. Value j is (d · s) · (q - 32), with q its six bits and s that of its group of 16. In each half of 128
/// values, value 32k + l has its nibble in byte l (k = 0 low, k = 2 high) or l + 32 (k = 1 low, k = 3 high) of 64, and
/// its upper bits at bit 2k of byte l of 32.
void DecodeQ6_K(std::span<const std::byte> blocks, std::span<float> out);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_GGUF_BLOCKS_H_
