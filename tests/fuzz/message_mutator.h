#ifndef EMBD_TESTS_FUZZ_MESSAGE_MUTATOR_H_
#define EMBD_TESTS_FUZZ_MESSAGE_MUTATOR_H_

#include <cstddef>
#include <cstdint>

#include "google/protobuf/message.h"

namespace embd::fuzz {

/// Changes one field of the message, or of one below it, at random: sets it to a value that is likely to be an edge,
/// adds to it, shortens it or clears it. The same `seed` makes the same of the same message.
void MutateMessage(google::protobuf::Message* message, unsigned int seed);

/// For LLVMFuzzerCustomMutator: reads `bytes` as a message like `prototype`, changes it and writes it back; where it is
/// none, or in one case of four, libFuzzer changes the bytes themselves. Returns the new size, at most `max_size`.
[[nodiscard]] std::size_t MutateEncoded(const google::protobuf::Message& prototype, std::uint8_t* bytes,
                                        std::size_t size, std::size_t max_size, unsigned int seed);

}  // namespace embd::fuzz

#endif  // EMBD_TESTS_FUZZ_MESSAGE_MUTATOR_H_
