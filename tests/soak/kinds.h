#ifndef EMBD_TESTS_SOAK_KINDS_H_
#define EMBD_TESTS_SOAK_KINDS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "embd/client/client.h"
#include "embd/client/shared_region.h"
#include "inference/grpc_service.grpc.pb.h"

namespace embd::soak {

/// The bytes of a reply, and the checksums of the tables that they say they come from ("" where a reply names none).
struct Answer {
  std::string tables = {};
  std::string bytes = {};
};

/// What one caller calls with. `region` and `local` are there where the server has a Unix socket, `inference` where
/// there is one server only.
struct Caller {
  const client::Client* client = nullptr;
  const client::Client* local = nullptr;
  inference::GRPCInferenceService::Stub* inference = nullptr;
  std::optional<client::SharedRegion> region = {};
};

/// One way to ask. A stream gives several answers, each for another request.
struct Kind {
  using Ask = std::function<absl::StatusOr<std::vector<Answer>>(const Caller&, const client::CallOptions&)>;

  std::string name;
  std::string model;
  Ask ask;
  /// Bytes of the reply are many, so that it can be caught in the middle.
  bool large = false;
  /// Whether callers may give up in the middle: not where the server may write on into their memory.
  bool may_be_cut = true;
};

/// All kinds that `caller` can ask.
[[nodiscard]] std::vector<Kind> Kinds(const Caller& caller);

}  // namespace embd::soak

#endif  // EMBD_TESTS_SOAK_KINDS_H_
