#include <cstring>

#include "server/core/kernels/reference_element.h"
#include "server/core/kernels/rotate.h"

namespace embd::core {
namespace {

void RotateOne(const RotateArguments& r, const std::byte* in, const float* cos, const float* sin, std::byte* out) {
  const std::size_t half = r.paired_dim / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const bool halves = r.pairing == RotaryPairing::kHalf;
    const std::size_t first = halves ? i : 2 * i;
    const std::size_t second = halves ? half + i : 2 * i + 1;
    const bool split = r.layout == RotaryLayout::kSplit;
    const float a = ReadAsFloat(in, first, r.input_type);
    const float b = ReadAsFloat(in, second, r.input_type);
    WriteFloat(a * cos[i] - b * sin[i], out, split ? i : first, r.output_type);
    WriteFloat(b * cos[i] + a * sin[i], out, split ? half + i : second, r.output_type);
  }
  const std::size_t size = ElementSize(r.input_type);
  for (std::size_t i = r.paired_dim; i < r.head_dim; ++i) {
    if (r.input_type == r.output_type) {
      std::memcpy(out + i * size, in + i * size, size);
    } else {
      WriteFloat(ReadAsFloat(in, i, r.input_type), out, i, r.output_type);
    }
  }
}

}  // namespace

void RotateReference(const RotateArguments& arguments) {
  const std::size_t in_bytes = arguments.head_dim * ElementSize(arguments.input_type);
  const std::size_t out_bytes = arguments.head_dim * ElementSize(arguments.output_type);
  for (std::size_t v = 0; v < arguments.vector_count; ++v) {
    RotateOne(arguments, arguments.in + v * in_bytes, arguments.cos + v * arguments.table_step,
              arguments.sin + v * arguments.table_step, arguments.out + v * out_bytes);
  }
}

}  // namespace embd::core
