#ifndef EMBD_TESTS_SUPPORT_IDENTITY_SERVABLE_H_
#define EMBD_TESTS_SUPPORT_IDENTITY_SERVABLE_H_

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/oip/servable.h"

namespace embd::testing {

/// One tensor on its way back to its sender.
class IdentityInference : public oip::Inference {
 public:
  explicit IdentityInference(oip::InputTensor input)
      : data_(std::move(input.data)),
        outputs_{{.name = "OUTPUT0",
                  .datatype = input.datatype,
                  .shape = std::move(input.shape),
                  .byte_size = data_.size()}} {}

  [[nodiscard]] const std::vector<oip::OutputTensor>& outputs() const override { return outputs_; }
  [[nodiscard]] std::int64_t batch_size() const override { return outputs_.front().shape.front(); }
  [[nodiscard]] std::int64_t sequence_length() const override { return -1; }
  [[nodiscard]] bool IsLarge() const override { return data_.size() >= (std::size_t{64} << 10); }
  void Describe(::inference::ModelInferResponse* /*response*/) const override {}
  [[nodiscard]] absl::Status Compute(service::Backend& /*backend*/, std::size_t /*index*/, std::span<std::byte> out,
                                     core::Stores /*stores*/,
                                     absl::FunctionRef<absl::Status()> /*interrupted*/) const override {
    if (!out.empty()) std::memcpy(out.data(), data_.data(), out.size());
    return absl::OkStatus();
  }

 private:
  const std::string data_;
  const std::vector<oip::OutputTensor> outputs_;
};

/// A model that gives back what it is sent, bit by bit: "INPUT0" FP32 [-1,-1] as "OUTPUT0".
///
/// Thread safety: never changes.
class IdentityServable : public oip::Servable {
 public:
  explicit IdentityServable(std::string name = "identity_fp32") : name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::string& version() const override { return version_; }
  [[nodiscard]] const oip::Signature& signature() const override { return signature_; }
  [[nodiscard]] std::int64_t byte_size() const override { return 0; }
  [[nodiscard]] std::map<std::string, std::string> Properties() const override { return {}; }
  [[nodiscard]] absl::StatusOr<std::unique_ptr<oip::Inference>> Plan(
      const service::Backend& /*backend*/, std::vector<oip::InputTensor> inputs,
      const std::vector<oip::OutputRequest>& /*outputs*/) const override {
    return std::make_unique<IdentityInference>(std::move(inputs.front()));
  }

 private:
  const std::string name_;
  const std::string version_ = "1";
  const oip::Signature signature_ = {
      .platform = "identity",
      .backend = "identity",
      .max_batch_size = 8,
      .inputs = {{.name = "INPUT0", .datatypes = {::inference::TYPE_FP32}, .shape = {-1, -1}}},
      .outputs = {{.name = "OUTPUT0", .datatypes = {::inference::TYPE_FP32}, .shape = {-1, -1}}}};
};

}  // namespace embd::testing

#endif  // EMBD_TESTS_SUPPORT_IDENTITY_SERVABLE_H_
