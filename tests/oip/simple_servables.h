#ifndef EMBD_TESTS_OIP_SIMPLE_SERVABLES_H_
#define EMBD_TESTS_OIP_SIMPLE_SERVABLES_H_

#include <memory>

#include "server/oip/servable.h"

// Models that the examples and tests of Triton's clients expect of a server. They embed nothing.
namespace embd::oip {

/// "simple": INPUT0 and INPUT1, INT32 (B, 16), to OUTPUT0, their sum, and OUTPUT1, their difference; both wrap around.
/// B is at most 8.
[[nodiscard]] std::shared_ptr<const Servable> MakeSimple();

/// "identity_fp32": INPUT0, FP32 (B, N), to OUTPUT0, the same bits. B is at most 64; both may be 0.
[[nodiscard]] std::shared_ptr<const Servable> MakeIdentityFp32();

}  // namespace embd::oip

#endif  // EMBD_TESTS_OIP_SIMPLE_SERVABLES_H_
