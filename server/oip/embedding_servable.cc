// Hot path: no lock that another request holds for long, no allocation per row, no log line above debug.
#include "server/oip/embedding_servable.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"
#include "server/oip/quote.h"
#include "server/service/describe.h"
#include "server/service/embed_answer.h"

namespace embd::oip {
namespace {

constexpr char kInputIds[] = "input_ids";
constexpr char kInputsEmbeds[] = "inputs_embeds";
constexpr char kPositionIds[] = "position_ids";
constexpr char kAttentionMask[] = "attention_mask";
constexpr char kTokenTypeIds[] = "token_type_ids";
constexpr char kEmbeddings[] = "embeddings";
constexpr char kTokenEmbeddings[] = "token_embeddings";
constexpr char kPositionEmbeddings[] = "position_embeddings";

core::ElementType ToElementType(Datatype datatype) {
  switch (datatype) {
    case ::inference::TYPE_FP16: return core::ElementType::kFloat16;
    case ::inference::TYPE_BF16: return core::ElementType::kBFloat16;
    case ::inference::TYPE_FP64: return core::ElementType::kFloat64;
    default: return core::ElementType::kFloat32;
  }
}

core::Part PartOf(const std::string& output) {
  if (output == kTokenEmbeddings) return core::Part::kToken;
  return output == kPositionEmbeddings ? core::Part::kPosition : core::Part::kComposed;
}

// The datatypes of outputs, the default first.
std::vector<Datatype> OutputDatatypes(Datatype by_default) {
  std::vector<Datatype> datatypes = {::inference::TYPE_FP32, ::inference::TYPE_FP16, ::inference::TYPE_BF16};
  std::stable_partition(datatypes.begin(), datatypes.end(), [&](Datatype each) { return each == by_default; });
  return datatypes;
}

template <typename T>
std::vector<std::int64_t> Widen(const std::string& data) {
  std::vector<std::int64_t> values(data.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
    values[i] = value;
  }
  return values;
}

std::vector<std::int64_t> Values(const InputTensor& tensor) {
  return tensor.datatype == ::inference::TYPE_INT32 ? Widen<std::int32_t>(tensor.data)
                                                    : Widen<std::int64_t>(tensor.data);
}

// Every tensor has the rows and columns of the first one; position_ids may have one row for all.
absl::Status CheckSameBatch(const std::vector<InputTensor>& inputs, const InputTensor& first) {
  for (const InputTensor& each : inputs) {
    const bool same = each.shape[0] == first.shape[0] && each.shape[1] == first.shape[1];
    const bool shared = each.spec->name == kPositionIds && each.shape[0] == 1 && each.shape[1] == first.shape[1];
    if (same || shared) continue;
    return core::InvalidArgument(
        "INVALID_SHAPE", absl::StrCat("input '", each.spec->name, "' has shape ", InBrackets(each.shape), ", but '",
                                      first.spec->name, "' has ", InBrackets(first.shape)));
  }
  return absl::OkStatus();
}

// What the engine says is wrong is what embd.v1 says; but Triton has a sentence of its own for too large a batch.
absl::Status InTritonsWords(const absl::Status& refusal, std::int64_t batch_size, std::int64_t limit,
                            const std::string& model) {
  if (batch_size <= limit || core::ErrorReason(refusal) != "REQUEST_TOO_LARGE") return refusal;
  return core::Error(refusal.code(), "REQUEST_TOO_LARGE",
                     absl::StrCat("inference request batch-size must be <= ", limit, " for '", model, "'"));
}

core::EmbedInput ToEmbedInput(std::vector<InputTensor> inputs) {
  core::EmbedInput input;
  input.ids_name = kInputIds;
  for (InputTensor& each : inputs) {
    const std::string& name = each.spec->name;
    if (name == kInputIds) input.ids = Values(each);
    if (name == kPositionIds) input.position_ids = Values(each);
    if (name == kAttentionMask) input.attention_mask = Values(each);
    if (name == kTokenTypeIds) input.token_type_ids = Values(each);
    if (name == kInputsEmbeds) {
      input.inputs_embeds = {
          .type = ToElementType(each.datatype), .shape = std::move(each.shape), .data = std::move(each.data)};
    }
  }
  return input;
}

// A plan for each output.
class EmbeddingInference final : public Inference {
 public:
  void Add(const OutputRequest& request, core::EmbedPlan plan) {
    outputs_.push_back({.name = request.spec->name,
                        .datatype = request.datatype,
                        .shape = plan.output_shape(),
                        .byte_size = plan.byte_size()});
    plans_.push_back(std::move(plan));
  }

  [[nodiscard]] const std::vector<OutputTensor>& outputs() const override { return outputs_; }
  [[nodiscard]] std::int64_t batch_size() const override { return plans_.front().batch_size(); }
  [[nodiscard]] std::int64_t sequence_length() const override { return plans_.front().sequence_length(); }
  [[nodiscard]] bool IsLarge() const override {
    return std::any_of(plans_.begin(), plans_.end(), [](const auto& plan) { return service::IsLarge(plan); });
  }

  void Describe(::inference::ModelInferResponse* response) const override {
    const core::Model& model = plans_.front().model();
    auto& parameters = *response->mutable_parameters();
    parameters["checksum"].set_string_param(model.checksum());
    parameters["generation"].set_int64_param(model.generation());
    std::vector<std::string> warnings;
    for (const core::EmbedPlan& plan : plans_) {
      for (const std::string& each : plan.warnings()) {
        if (std::find(warnings.begin(), warnings.end(), each) == warnings.end()) warnings.push_back(each);
      }
    }
    if (!warnings.empty()) parameters["warnings"].set_string_param(absl::StrJoin(warnings, "\n"));
  }

  [[nodiscard]] absl::Status Compute(service::Backend& backend, std::size_t index, std::span<std::byte> out,
                                     core::Stores stores,
                                     absl::FunctionRef<absl::Status()> interrupted) const override {
    const core::EmbedPlan& plan = plans_[index];
    return service::ComposeInto(backend, plan, 0, plan.row_count(), out, stores, interrupted);
  }

 private:
  std::vector<core::EmbedPlan> plans_;
  std::vector<OutputTensor> outputs_;
};

}  // namespace

Signature SignatureOf(const core::Model& model, const EmbeddingOptions& options) {
  const std::vector<Datatype> integers = {::inference::TYPE_INT64, ::inference::TYPE_INT32};
  const std::vector<Datatype> vectors = {::inference::TYPE_FP32, ::inference::TYPE_FP16, ::inference::TYPE_BF16,
                                         ::inference::TYPE_FP64};
  const std::vector<std::int64_t> cells = {-1, -1};
  const std::vector<std::int64_t> rows = {-1, -1, model.embedding_dim()};
  const std::vector<Datatype> outputs = OutputDatatypes(options.output_datatype);
  const bool has_types = model.token_type_table() != nullptr, has_positions = model.position() != nullptr;
  return {.platform = "embedding_table",
          .backend = "embd",
          .max_batch_size = options.limits.max_batch_size,
          .inputs =
              {{.name = kInputIds, .datatypes = integers, .shape = cells, .stand_in = kInputsEmbeds},
               {.name = kPositionIds, .datatypes = integers, .shape = cells, .optional = true},
               {.name = kAttentionMask, .datatypes = integers, .shape = cells, .optional = true},
               {.name = kTokenTypeIds, .datatypes = integers, .shape = cells, .optional = true, .declared = has_types},
               {.name = kInputsEmbeds, .datatypes = vectors, .shape = rows, .optional = true}},
          .outputs = {{.name = kEmbeddings, .datatypes = outputs, .shape = rows},
                      {.name = kTokenEmbeddings, .datatypes = outputs, .shape = rows, .optional = true},
                      {.name = kPositionEmbeddings,
                       .datatypes = outputs,
                       .shape = rows,
                       .optional = true,
                       .declared = has_positions}}};
}

std::int64_t EmbeddingServable::byte_size() const { return service::TableBytes(*model_); }

std::map<std::string, std::string> EmbeddingServable::Properties() const {
  return {{"checksum", model_->checksum()},
          {"generation", absl::StrCat(model_->generation())},
          {"position_encoding", std::string(core::PositionEncodingName(model_->position_encoding()))}};
}

absl::StatusOr<std::unique_ptr<Inference>> EmbeddingServable::Plan(const service::Backend& /*backend*/,
                                                                   std::vector<InputTensor> inputs,
                                                                   const std::vector<OutputRequest>& outputs) const {
  const auto of_name = [&](absl::string_view name) {
    return std::find_if(inputs.begin(), inputs.end(), [&](const auto& each) { return each.spec->name == name; });
  };
  const auto ids = of_name(kInputIds), vectors = of_name(kInputsEmbeds);
  if (ids != inputs.end() && vectors != inputs.end()) {
    return core::InvalidArgument("INVALID_OPTION", "input_ids and inputs_embeds exclude each other");
  }
  const InputTensor& first = ids != inputs.end() ? *ids : *vectors;
  if (absl::Status status = CheckSameBatch(inputs, first); !status.ok()) return status;
  const std::int64_t batch_size = first.shape[0], sequence_length = first.shape[1];
  core::EmbedInput input = ToEmbedInput(std::move(inputs));
  input.batch_size = batch_size;
  input.sequence_length = sequence_length;
  auto inference = std::make_unique<EmbeddingInference>();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    core::EmbedInput planned = i + 1 == outputs.size() ? std::exchange(input, {}) : input;
    planned.part = PartOf(outputs[i].spec->name);
    planned.output_type = ToElementType(outputs[i].datatype);
    planned.counts_out_of_range = i == 0;
    auto plan = service::PlanModel(model_, std::move(planned), options_.limits);
    if (!plan.ok()) return InTritonsWords(plan.status(), batch_size, options_.limits.max_batch_size, name());
    inference->Add(outputs[i], *std::move(plan));
  }
  return inference;
}

}  // namespace embd::oip
