#ifndef EMBD_SERVER_OIP_SERVABLE_H_
#define EMBD_SERVER_OIP_SERVABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "inference/grpc_service.pb.h"
#include "server/oip/datatype.h"
#include "server/service/backend.h"

// What the protocol sees of a model: named tensors in, named tensors out.
namespace embd::oip {

/// A tensor that a model takes or gives.
struct TensorSpec {
  std::string name;
  std::vector<Datatype> datatypes;  ///< those it may have; the first one is what clients are told
  std::vector<std::int64_t> shape;  ///< with the batch dimension, if there is one; -1: any extent
  /// Of an input: a request may go without it. Of an output: it is made only for requests that name it.
  bool optional = false;
  std::string stand_in;  ///< the name of an input that may come in its place; empty: none may
  /// Whether clients are told of it. What is not declared can be named all the same, and is refused by the model, which
  /// knows why.
  bool declared = true;
};

/// The tensors of a model.
struct Signature {
  std::string platform;
  std::string backend;
  std::int64_t max_batch_size = 0;  ///< the largest first extent; 0: tensors have no batch dimension
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
};

/// An input of a request: its name, datatype and rank are those of the signature, extents that the signature fixes are
/// as it says, and the data is exactly as long as datatype and shape say.
struct InputTensor {
  const TensorSpec* spec = nullptr;
  Datatype datatype = ::inference::TYPE_INVALID;
  std::vector<std::int64_t> shape;
  std::string data;  ///< elements one after the other, little-endian
};

/// An output that a request asks for.
struct OutputRequest {
  const TensorSpec* spec = nullptr;
  Datatype datatype = ::inference::TYPE_INVALID;  ///< one of the spec's
};

/// An output that will be made.
struct OutputTensor {
  std::string name;
  Datatype datatype = ::inference::TYPE_INVALID;
  std::vector<std::int64_t> shape;
  std::size_t byte_size = 0;
};

/// One checked request: everything that is needed to make its outputs, and their sizes before any of them is allocated.
///
/// Thread safety: const calls may run at once.
class Inference {
 public:
  virtual ~Inference() = default;

  /// In the order in which they were asked for.
  [[nodiscard]] virtual const std::vector<OutputTensor>& outputs() const = 0;
  [[nodiscard]] virtual std::int64_t batch_size() const = 0;
  /// For the log; -1: does not apply.
  [[nodiscard]] virtual std::int64_t sequence_length() const = 0;
  /// Whether computing takes so long that it must not be done on gRPC's own threads.
  [[nodiscard]] virtual bool IsLarge() const = 0;
  /// Adds the parameters of the reply.
  virtual void Describe(::inference::ModelInferResponse* response) const = 0;

  /// Makes output `index`; `out` has its byte_size and is aligned to one element. `stores` says who reads the bytes
  /// next. `interrupted` is asked between blocks of work; what it says other than OK ends the work, and what is in
  /// `out` is unspecified then.
  [[nodiscard]] virtual absl::Status Compute(service::Backend& backend, std::size_t index, std::span<std::byte> out,
                                             core::Stores stores,
                                             absl::FunctionRef<absl::Status()> interrupted) const = 0;
};

/// A model.
///
/// Thread safety: never changes.
class Servable {
 public:
  virtual ~Servable() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual const std::string& version() const = 0;
  [[nodiscard]] virtual const Signature& signature() const = 0;
  /// The memory that it takes for itself, in bytes.
  [[nodiscard]] virtual std::int64_t byte_size() const = 0;
  /// What else a client can know, by name.
  [[nodiscard]] virtual std::map<std::string, std::string> Properties() const = 0;

  /// Checks a request. `inputs` are in the order of the signature, each at most once, with those that are not optional
  /// (or what stands in for them); `outputs` are at least one.
  [[nodiscard]] virtual absl::StatusOr<std::unique_ptr<Inference>> Plan(
      const service::Backend& backend, std::vector<InputTensor> inputs,
      const std::vector<OutputRequest>& outputs) const = 0;
};

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_SERVABLE_H_
