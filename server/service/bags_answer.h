#ifndef EMBD_SERVER_SERVICE_BAGS_ANSWER_H_
#define EMBD_SERVER_SERVICE_BAGS_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "embd/v1/bags.pb.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/core/engine/bag_plan.h"
#include "server/service/backend.h"
#include "server/service/call.h"

namespace embd::service {

/// One EmbedBagsRequest on its way to its reply, for a PooledCall.
class EmbedBagsWork {
 public:
  using Request = v1::EmbedBagsRequest;
  using Context = Backend;
  static constexpr bool kIsInference = false;  // one call asks many models
  /// Ids and lengths are most of a request, and are decoded at a byte a nanosecond or so: no longer than IsLarge
  /// allows.
  static constexpr std::size_t kLargeRequestBytes = std::size_t{256} << 10;

  /// The first one.
  [[nodiscard]] static const std::string& ModelName(const Request& request);

  /// Checks the request, whose lists the work shows: it stays as it is until Answer has returned.
  ///
  /// Errors, of which those of one of the bags begin with its place ("bags[3]."):
  ///   INVALID_ARGUMENT  [INVALID_OPTION] no bags or too many, two sources of ids; [INVALID_SHAPE] an ids_tensor's
  ///   Besides those of ModelRegistry::Find, ToOutputType, CheckRawIds and BagPlan::Add.
  [[nodiscard]] static absl::StatusOr<EmbedBagsWork> Plan(const Backend& backend, const Request& request, const Call&);

  [[nodiscard]] std::int64_t batch_size() const { return plan_.bag_count(); }
  [[nodiscard]] std::int64_t sequence_length() const { return plan_.longest_bag(); }

  /// Whether it takes so long that it must not be done on gRPC's own threads.
  [[nodiscard]] bool IsLarge() const;

  /// The encoded reply: the tensors are slices of one pooled buffer, each behind a slice with its header. Errors: those
  /// of ReplyBuffers::Take, of `interrupted` and of core::Model::CheckUndamaged (asked at the end).
  [[nodiscard]] absl::StatusOr<grpc::ByteBuffer> Answer(Backend& backend, const Request& request,
                                                        const std::function<absl::Status()>& interrupted) const;

 private:
  explicit EmbedBagsWork(core::BagPlan plan) : plan_(std::move(plan)) {}

  core::BagPlan plan_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_BAGS_ANSWER_H_
