#include "proto/wire/frame.h"

#include <cstdint>
#include <iterator>

namespace embd::wire {
namespace {

void AppendVarint(std::uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>((value & 0x7F) | 0x80));
  out->push_back(static_cast<char>(value));
}

}  // namespace

std::string FrameHeader(std::initializer_list<Enclosing> levels, std::size_t payload_size) {
  constexpr std::uint64_t kLengthDelimited = 2;
  std::string header;  // of the levels seen so far, from the innermost outwards
  for (auto level = std::rbegin(levels); level != std::rend(levels); ++level) {
    std::string outer;
    level->fields.AppendPartialToString(&outer);
    AppendVarint(static_cast<std::uint64_t>(level->payload_field) << 3 | kLengthDelimited, &outer);
    AppendVarint(header.size() + payload_size, &outer);
    outer += header;
    header = std::move(outer);
  }
  return header;
}

}  // namespace embd::wire
