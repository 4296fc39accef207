#include "server/formats/byte_order.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace embd::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "tables are little-endian in memory, and read(2) fills them");

std::uint16_t Reversed(std::uint16_t value) { return __builtin_bswap16(value); }
std::uint32_t Reversed(std::uint32_t value) { return __builtin_bswap32(value); }
std::uint64_t Reversed(std::uint64_t value) { return __builtin_bswap64(value); }

template <typename Element>
void ReverseAll(std::span<std::byte> bytes) {
  for (std::size_t i = 0; i + sizeof(Element) <= bytes.size(); i += sizeof(Element)) {
    Element element;
    std::memcpy(&element, bytes.data() + i, sizeof element);
    element = Reversed(element);
    std::memcpy(bytes.data() + i, &element, sizeof element);
  }
}

}  // namespace

void ReverseElementBytes(std::span<std::byte> bytes, std::size_t element_size) {
  switch (element_size) {
    case 2: return ReverseAll<std::uint16_t>(bytes);
    case 4: return ReverseAll<std::uint32_t>(bytes);
    default: return ReverseAll<std::uint64_t>(bytes);
  }
}

}  // namespace embd::formats
