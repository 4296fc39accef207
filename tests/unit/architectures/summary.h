#ifndef EMBD_TESTS_UNIT_ARCHITECTURES_SUMMARY_H_
#define EMBD_TESTS_UNIT_ARCHITECTURES_SUMMARY_H_

#include <string>

#include "server/config/server_config.h"

namespace embd::architectures {

/// All that a spelled-out model says, on one line, without the paths of files; what is unset is left out:
///
///     wte.weight + learned wpe.weight[sequential] + types shared when sent, position first; trained 6
[[nodiscard]] std::string Summary(const config::ModelConfig& model);

/// The rotary encoding's part of it.
[[nodiscard]] std::string Summary(const config::RotaryPositions& rotary);

}  // namespace embd::architectures

#endif  // EMBD_TESTS_UNIT_ARCHITECTURES_SUMMARY_H_
