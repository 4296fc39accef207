#ifndef EMBD_SERVER_SERVICE_ROTARY_TABLE_ANSWER_H_
#define EMBD_SERVER_SERVICE_ROTARY_TABLE_ANSWER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "embd/v1/rotary.pb.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/core/position/rotary.h"
#include "server/service/backend.h"
#include "server/service/call.h"

namespace embd::service {

/// One RotaryTableRequest on its way to its reply, for a PooledCall.
class RotaryTableWork {
 public:
  using Request = v1::RotaryTableRequest;
  using Context = Backend;
  static constexpr bool kIsInference = false;

  [[nodiscard]] static const std::string& ModelName(const Request& request) { return request.model(); }

  /// Checks the request. Errors: those of ChooseRotary and core::ResolveRotary; besides INVALID_ARGUMENT
  /// [INVALID_SHAPE] a length below 1, [POSITION_OUT_OF_RANGE], [INVALID_OPTION] a scaling_length outside its range;
  /// RESOURCE_EXHAUSTED [REQUEST_TOO_LARGE], [RESPONSE_TOO_LARGE].
  [[nodiscard]] static absl::StatusOr<RotaryTableWork> Plan(const Backend& backend, const Request& request,
                                                            const Call&);

  [[nodiscard]] std::int64_t batch_size() const { return 1; }
  [[nodiscard]] std::int64_t sequence_length() const { return length_; }

  /// Whether it takes so long that it must not be done on gRPC's own threads.
  [[nodiscard]] bool IsLarge() const;

  /// The encoded reply: both tables in pooled buffers of their own. Errors: those of ReplyBuffers::Take and of
  /// `interrupted`.
  [[nodiscard]] absl::StatusOr<grpc::ByteBuffer> Answer(Backend& backend, const Request& request,
                                                        const std::function<absl::Status()>& interrupted) const;

 private:
  RotaryTableWork(core::RotaryFrequencies frequencies, std::int64_t first, std::int64_t length)
      : frequencies_(std::move(frequencies)), first_(first), length_(length) {}

  [[nodiscard]] std::int64_t pairs() const { return static_cast<std::int64_t>(frequencies_.inv_freq.size()); }

  core::RotaryFrequencies frequencies_;
  std::int64_t first_;
  std::int64_t length_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_ROTARY_TABLE_ANSWER_H_
