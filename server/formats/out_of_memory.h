#ifndef EMBD_SERVER_FORMATS_OUT_OF_MEMORY_H_
#define EMBD_SERVER_FORMATS_OUT_OF_MEMORY_H_

#include <new>
#include <stdexcept>
#include <string>

#include "absl/status/status.h"
#include "server/core/error.h"
#include "server/formats/file_error.h"

namespace embd::formats {

/// What `load()` returns, or RESOURCE_EXHAUSTED [OUT_OF_MEMORY] under `path` where the standard library threw for want
/// of memory. Every entry of this folder goes through it, so that no exception leaves.
template <typename Load>
[[nodiscard]] auto CatchOutOfMemory(const std::string& path, Load load) -> decltype(load()) {
  const auto error = [&path] {
    return AtPath(path, core::Error(absl::StatusCode::kResourceExhausted, "OUT_OF_MEMORY", "not enough memory"));
  };
  try {
    return load();
  } catch (const std::bad_alloc&) {
    return error();
  } catch (const std::length_error&) {
    return error();
  }
}

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_OUT_OF_MEMORY_H_
