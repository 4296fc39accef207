#ifndef EMBD_TESTS_BENCH_GPT2_SIZED_H_
#define EMBD_TESTS_BENCH_GPT2_SIZED_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "server/core/engine/model.h"

namespace embd::bench {

inline constexpr char kModelName[] = "gpt2-sized";
inline constexpr std::int64_t kVocab = 50'257, kDim = 768, kLength = 1024;

/// The model that every server of the comparison composes: V seeded token rows and L learned positions of width D. The
/// same as compare.py configures embd with. Ends the program where there is no memory for it.
[[nodiscard]] std::shared_ptr<const core::Model> Gpt2Sized();

}  // namespace embd::bench

#endif  // EMBD_TESTS_BENCH_GPT2_SIZED_H_
