#ifndef EMBD_CLIENT_SRC_ADDRESS_H_
#define EMBD_CLIENT_SRC_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace embd::client {

/// The gRPC target of an address as `Client::Connect` takes it.
///
/// Errors:
///   INVALID_ARGUMENT  the address is none of those that Connect lists; the message says what is missing.
[[nodiscard]] absl::StatusOr<std::string> TargetOf(absl::string_view address);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_ADDRESS_H_
