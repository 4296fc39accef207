#include "server/formats/gguf_types.h"

#include "server/formats/gguf_blocks.h"

namespace embd::formats {
namespace {

using core::ElementType;

constexpr GgufType kTypes[] = {
    {0, "F32", 1, 4, ElementType::kFloat32, nullptr},
    {1, "F16", 1, 2, ElementType::kFloat16, nullptr},
    {2, "Q4_0", 32, 18, std::nullopt, DecodeQ4_0},
    {3, "Q4_1", 32, 20, std::nullopt, nullptr},
    {4, "Q4_2", 0, 0, std::nullopt, nullptr},
    {5, "Q4_3", 0, 0, std::nullopt, nullptr},
    {6, "Q5_0", 32, 22, std::nullopt, nullptr},
    {7, "Q5_1", 32, 24, std::nullopt, nullptr},
    {8, "Q8_0", 32, 34, std::nullopt, DecodeQ8_0},
    {9, "Q8_1", 32, 36, std::nullopt, nullptr},
    {10, "Q2_K", 256, 84, std::nullopt, nullptr},
    {11, "Q3_K", 256, 110, std::nullopt, nullptr},
    {12, "Q4_K", 256, 144, std::nullopt, DecodeQ4_K},
    {13, "Q5_K", 256, 176, std::nullopt, nullptr},
    {14, "Q6_K", 256, 210, std::nullopt, DecodeQ6_K},
    {15, "Q8_K", 256, 292, std::nullopt, nullptr},
    {16, "IQ2_XXS", 256, 66, std::nullopt, nullptr},
    {17, "IQ2_XS", 256, 74, std::nullopt, nullptr},
    {18, "IQ3_XXS", 256, 98, std::nullopt, nullptr},
    {19, "IQ1_S", 256, 50, std::nullopt, nullptr},
    {20, "IQ4_NL", 32, 18, std::nullopt, nullptr},
    {21, "IQ3_S", 256, 110, std::nullopt, nullptr},
    {22, "IQ2_S", 256, 82, std::nullopt, nullptr},
    {23, "IQ4_XS", 256, 136, std::nullopt, nullptr},
    {24, "I8", 1, 1, std::nullopt, nullptr},
    {25, "I16", 1, 2, std::nullopt, nullptr},
    {26, "I32", 1, 4, std::nullopt, nullptr},
    {27, "I64", 1, 8, std::nullopt, nullptr},
    {28, "F64", 1, 8, std::nullopt, nullptr},
    {29, "IQ1_M", 256, 56, std::nullopt, nullptr},
    {30, "BF16", 1, 2, ElementType::kBFloat16, nullptr},
    {31, "Q4_0_4_4", 0, 0, std::nullopt, nullptr},
    {32, "Q4_0_4_8", 0, 0, std::nullopt, nullptr},
    {33, "Q4_0_8_8", 0, 0, std::nullopt, nullptr},
    {34, "TQ1_0", 256, 54, std::nullopt, nullptr},
    {35, "TQ2_0", 256, 66, std::nullopt, nullptr},
    {36, "IQ4_NL_4_4", 0, 0, std::nullopt, nullptr},
    {37, "IQ4_NL_4_8", 0, 0, std::nullopt, nullptr},
    {38, "IQ4_NL_8_8", 0, 0, std::nullopt, nullptr},
    {39, "MXFP4", 32, 17, std::nullopt, nullptr},
    {40, "NVFP4", 64, 36, std::nullopt, nullptr},
    {41, "Q1_0", 128, 18, std::nullopt, nullptr},
    {42, "Q2_0", 64, 18, std::nullopt, nullptr},
};

}  // namespace

const GgufType* FindGgufType(std::uint32_t number) {
  for (const GgufType& type : kTypes) {
    if (type.number == number) return &type;
  }
  return nullptr;
}

}  // namespace embd::formats
