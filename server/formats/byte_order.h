#ifndef EMBD_SERVER_FORMATS_BYTE_ORDER_H_
#define EMBD_SERVER_FORMATS_BYTE_ORDER_H_

#include <cstddef>
#include <span>

namespace embd::formats {

/// Reverses the bytes of every element in place: big-endian becomes little-endian and back.
///
/// `element_size` is 2, 4 or 8, and `bytes` holds whole elements.
void ReverseElementBytes(std::span<std::byte> bytes, std::size_t element_size);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_BYTE_ORDER_H_
