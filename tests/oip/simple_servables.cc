#include "tests/oip/simple_servables.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::oip {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;  // copied between two questions whether to go on

// Outputs that are there already, and are copied to where they are wanted.
class CopyInference final : public Inference {
 public:
  explicit CopyInference(std::int64_t batch_size) : batch_size_(batch_size) {}

  void Add(const OutputRequest& request, std::vector<std::int64_t> shape, std::shared_ptr<const std::string> elements) {
    outputs_.push_back({.name = request.spec->name,
                        .datatype = request.datatype,
                        .shape = std::move(shape),
                        .byte_size = elements->size()});
    elements_.push_back(std::move(elements));
  }

  [[nodiscard]] const std::vector<OutputTensor>& outputs() const override { return outputs_; }
  [[nodiscard]] std::int64_t batch_size() const override { return batch_size_; }
  [[nodiscard]] std::int64_t sequence_length() const override { return -1; }
  [[nodiscard]] bool IsLarge() const override {
    return std::any_of(outputs_.begin(), outputs_.end(),
                       [](const OutputTensor& each) { return each.byte_size > kBlockBytes; });
  }
  void Describe(::inference::ModelInferResponse* /*response*/) const override {}

  [[nodiscard]] absl::Status Compute(service::Backend& /*backend*/, std::size_t index, std::span<std::byte> out,
                                     core::Stores /*stores*/,
                                     absl::FunctionRef<absl::Status()> interrupted) const override {
    const std::string& elements = *elements_[index];
    for (std::size_t done = 0; done < elements.size(); done += kBlockBytes) {
      if (absl::Status status = interrupted(); !status.ok()) return status;
      std::memcpy(out.data() + done, elements.data() + done, std::min(kBlockBytes, elements.size() - done));
    }
    return absl::OkStatus();
  }

 private:
  const std::int64_t batch_size_;
  std::vector<OutputTensor> outputs_;
  std::vector<std::shared_ptr<const std::string>> elements_;
};

class SimpleServable : public Servable {
 public:
  SimpleServable(std::string name, Signature signature) : name_(std::move(name)), signature_(std::move(signature)) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::string& version() const override { return version_; }
  [[nodiscard]] const Signature& signature() const override { return signature_; }
  [[nodiscard]] std::int64_t byte_size() const override { return 0; }
  [[nodiscard]] std::map<std::string, std::string> Properties() const override { return {}; }

  [[nodiscard]] absl::StatusOr<std::unique_ptr<Inference>> Plan(
      const service::Backend& /*backend*/, std::vector<InputTensor> inputs,
      const std::vector<OutputRequest>& outputs) const override {
    const std::vector<std::int64_t> shape = inputs.front().shape;
    for (const InputTensor& each : inputs) {
      if (each.shape == shape) continue;
      return core::InvalidArgument(
          "INVALID_SHAPE", absl::StrCat("input '", each.spec->name, "' has batch size ", each.shape[0], ", but '",
                                        inputs.front().spec->name, "' has ", shape[0]));
    }
    if (shape[0] > signature_.max_batch_size) {
      return core::Error(
          absl::StatusCode::kResourceExhausted, "REQUEST_TOO_LARGE",
          absl::StrCat("inference request batch-size must be <= ", signature_.max_batch_size, " for '", name_, "'"));
    }
    const auto elements = OutputElements(std::move(inputs));
    auto inference = std::make_unique<CopyInference>(shape[0]);
    for (const OutputRequest& request : outputs) {
      inference->Add(request, shape, elements[static_cast<std::size_t>(request.spec - signature_.outputs.data())]);
    }
    return inference;
  }

 private:
  /// Of all outputs, in the order of the signature. The inputs have one shape, which all outputs get.
  [[nodiscard]] virtual std::vector<std::shared_ptr<const std::string>> OutputElements(
      std::vector<InputTensor> inputs) const = 0;

  const std::string name_;
  const std::string version_ = "1";
  const Signature signature_;
};

class SumAndDifference final : public SimpleServable {
 public:
  using SimpleServable::SimpleServable;

 private:
  [[nodiscard]] std::vector<std::shared_ptr<const std::string>> OutputElements(
      std::vector<InputTensor> inputs) const override {
    const std::string &left = inputs[0].data, &right = inputs[1].data;
    std::string sum(left.size(), '\0'), difference(left.size(), '\0');
    for (std::size_t i = 0; i < left.size(); i += sizeof(std::uint32_t)) {
      const std::uint32_t a = Load(left, i), b = Load(right, i);
      Store(a + b, i, &sum);
      Store(a - b, i, &difference);
    }
    return {std::make_shared<const std::string>(std::move(sum)),
            std::make_shared<const std::string>(std::move(difference))};
  }

  // Sums of unsigned numbers wrap around, and have the bits of signed ones.
  static std::uint32_t Load(const std::string& data, std::size_t offset) {
    std::uint32_t value;
    std::memcpy(&value, data.data() + offset, sizeof(value));
    return value;
  }
  static void Store(std::uint32_t value, std::size_t offset, std::string* data) {
    std::memcpy(data->data() + offset, &value, sizeof(value));
  }
};

class Identity final : public SimpleServable {
 public:
  using SimpleServable::SimpleServable;

 private:
  [[nodiscard]] std::vector<std::shared_ptr<const std::string>> OutputElements(
      std::vector<InputTensor> inputs) const override {
    return {std::make_shared<const std::string>(std::move(inputs[0].data))};
  }
};

TensorSpec Tensor(const char* name, Datatype datatype, std::int64_t columns) {
  return {.name = name, .datatypes = {datatype}, .shape = {-1, columns}};
}

}  // namespace

std::shared_ptr<const Servable> MakeSimple() {
  constexpr std::int64_t kColumns = 16;
  constexpr Datatype kDatatype = ::inference::TYPE_INT32;
  return std::make_shared<SumAndDifference>(
      "simple", Signature{.platform = "test",
                          .backend = "test",
                          .max_batch_size = 8,
                          .inputs = {Tensor("INPUT0", kDatatype, kColumns), Tensor("INPUT1", kDatatype, kColumns)},
                          .outputs = {Tensor("OUTPUT0", kDatatype, kColumns), Tensor("OUTPUT1", kDatatype, kColumns)}});
}

std::shared_ptr<const Servable> MakeIdentityFp32() {
  return std::make_shared<Identity>("identity_fp32",
                                    Signature{.platform = "test",
                                              .backend = "test",
                                              .max_batch_size = 64,
                                              .inputs = {Tensor("INPUT0", ::inference::TYPE_FP32, -1)},
                                              .outputs = {Tensor("OUTPUT0", ::inference::TYPE_FP32, -1)}});
}

}  // namespace embd::oip
