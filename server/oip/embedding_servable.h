#ifndef EMBD_SERVER_OIP_EMBEDDING_SERVABLE_H_
#define EMBD_SERVER_OIP_EMBEDDING_SERVABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/engine/embed_plan.h"
#include "server/core/engine/model.h"
#include "server/oip/servable.h"

namespace embd::oip {

/// What is the same for all embedding models of a server.
struct EmbeddingOptions {
  Datatype output_datatype = ::inference::TYPE_FP32;  ///< FP32, FP16 or BF16
  core::EmbedLimits limits;
};

/// The tensors of an embedding model.
///
/// Inputs: "input_ids" INT64 or INT32 (B, T); optional "position_ids" (B, T) or (1, T), "attention_mask",
/// "token_type_ids" (B, T), likewise; "inputs_embeds" FP32, FP16, BF16 or FP64 (B, T, D) in place of "input_ids".
/// Outputs, each (B, T, D): "embeddings"; optional "token_embeddings" and, of a model with a position table,
/// "position_embeddings".
[[nodiscard]] Signature SignatureOf(const core::Model& model, const EmbeddingOptions& options);

/// An embedding model: each output is one embd.v1 part, planned and composed by the same engine.
///
/// Ownership: keeps the model alive.
class EmbeddingServable final : public Servable {
 public:
  /// `signature` is SignatureOf the model.
  EmbeddingServable(std::shared_ptr<const core::Model> model, std::shared_ptr<const Signature> signature,
                    const EmbeddingOptions& options)
      : model_(std::move(model)), signature_(std::move(signature)), options_(options) {}

  [[nodiscard]] const std::string& name() const override { return model_->name(); }
  [[nodiscard]] const std::string& version() const override { return model_->version(); }
  [[nodiscard]] const Signature& signature() const override { return *signature_; }
  [[nodiscard]] std::int64_t byte_size() const override;
  [[nodiscard]] std::map<std::string, std::string> Properties() const override;

  /// Errors: those of core::EmbedPlan::Create; INVALID_ARGUMENT [INVALID_SHAPE] inputs whose shapes differ;
  /// RESOURCE_EXHAUSTED [REQUEST_TOO_LARGE] a batch that exceeds max_batch_size, in Triton's words.
  [[nodiscard]] absl::StatusOr<std::unique_ptr<Inference>> Plan(
      const service::Backend& backend, std::vector<InputTensor> inputs,
      const std::vector<OutputRequest>& outputs) const override;

 private:
  const std::shared_ptr<const core::Model> model_;
  const std::shared_ptr<const Signature> signature_;
  const EmbeddingOptions& options_;
};

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_EMBEDDING_SERVABLE_H_
