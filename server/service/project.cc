#include "server/service/project.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/diagnostics/projection.h"
#include "server/core/error.h"
#include "server/service/vector_tensor.h"

namespace embd::service {
namespace {

constexpr std::int64_t kDefaultTopK = 10;
constexpr std::int64_t kMaxTopK = 1024;
constexpr int kMaxCandidates = 65536;
// What a score and its id take while the reply is made, and a word, if it is not very long.
constexpr std::int64_t kScoreBytes = 32;
constexpr std::int64_t kWordBytes = 64;

absl::Status InvalidOption(absl::string_view message) { return core::InvalidArgument("INVALID_OPTION", message); }

// What the model must have for it.
absl::Status CheckModel(const core::Model& model, const v1::ProjectRequest& request) {
  if (request.with_tokens() && model.vocabulary() == nullptr) {
    return core::Error(absl::StatusCode::kFailedPrecondition, "NO_VOCABULARY",
                       absl::StrCat("with_tokens: model ", core::Quote(model.name()), " has no vocabulary"));
  }
  if (model.output().tied || request.raw_scores()) return absl::OkStatus();
  return core::Error(absl::StatusCode::kFailedPrecondition, "NOT_TIED",
                     absl::StrCat("model ", core::Quote(model.name()),
                                  " does not project by its token table; with raw_scores its rows are scored as they "
                                  "are, by dot products alone"));
}

absl::Status CheckPositive(absl::string_view name, std::optional<double> value) {
  if (!value.has_value() || (std::isfinite(*value) && *value > 0)) return absl::OkStatus();
  return InvalidOption(absl::StrCat(name, " must be a finite number > 0, got ", *value));
}

absl::Status CheckOptions(const v1::ProjectRequest& request, std::int64_t vocab_size) {
  if (request.raw_scores() && (request.has_scale() || request.has_softcap())) {
    return InvalidOption("raw_scores excludes scale and softcap");
  }
  for (const auto& [name, value] :
       {std::pair("scale", request.has_scale() ? std::optional(request.scale()) : std::nullopt),
        std::pair("softcap", request.has_softcap() ? std::optional(request.softcap()) : std::nullopt)}) {
    if (absl::Status status = CheckPositive(name, value); !status.ok()) return status;
  }
  const std::int64_t most = std::min(kMaxTopK, vocab_size);
  if (request.top_k() < 0 || request.top_k() > most) {
    return InvalidOption(absl::StrCat("top_k = ", request.top_k(), " is outside [0, ", most, "]"));
  }
  return absl::OkStatus();
}

absl::Status CheckCandidates(const core::Model& model, const v1::ProjectRequest& request) {
  const auto& ids = request.candidate_ids();
  if (ids.empty()) return absl::OkStatus();
  if (request.top_k() != 0) return InvalidOption("top_k and candidate_ids exclude each other");
  if (ids.size() > kMaxCandidates) {
    return InvalidOption(absl::StrCat(ids.size(), " candidate_ids exceed the ", kMaxCandidates, " of one call"));
  }
  for (int i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && ids[i] < model.vocab_size()) continue;
    return core::InvalidArgument(
        "ID_OUT_OF_RANGE", absl::StrCat("candidate_ids[", i, "] = ", ids[i], " is outside [0, ", model.vocab_size(),
                                        ") of model ", core::Quote(model.name())));
  }
  return absl::OkStatus();
}

absl::Status CheckSize(std::int64_t scores, bool with_tokens, std::int64_t max_response_bytes) {
  const std::int64_t bytes = scores * (kScoreBytes + (with_tokens ? kWordBytes : 0));
  if (bytes <= max_response_bytes) return absl::OkStatus();
  return core::Error(absl::StatusCode::kResourceExhausted, "RESPONSE_TOO_LARGE",
                     absl::StrCat("the reply of ", scores, " scores takes ", bytes,
                                  " bytes while it is made, which exceeds max_response_bytes ", max_response_bytes,
                                  " of this server; send fewer vectors, or ask for fewer ids"));
}

core::ProjectionInput ToInput(const core::ModelOutput& output, const v1::ProjectRequest& request,
                              std::int64_t vocab_size) {
  core::ProjectionInput input = {
      .top_k = request.top_k() == 0 ? std::min(kDefaultTopK, vocab_size) : request.top_k(),
      .candidates = std::span(request.candidate_ids().data(), static_cast<std::size_t>(request.candidate_ids_size())),
      .log_probabilities = request.log_probabilities()};
  if (request.raw_scores()) return input;
  input.scale = request.has_scale() ? request.scale() : output.scale;
  input.bias = output.bias;
  input.softcap = request.has_softcap() ? std::optional(request.softcap()) : output.softcap;
  return input;
}

void SetFloats(const std::vector<float>& values, std::initializer_list<std::int64_t> shape, v1::Tensor* tensor) {
  tensor->set_data_type(v1::DATA_TYPE_FLOAT32);
  tensor->mutable_shape()->Assign(shape.begin(), shape.end());
  tensor->set_data(values.data(), values.size() * sizeof(float));
}

}  // namespace

absl::StatusOr<v1::ProjectResponse> AnswerProject(const core::ModelRegistry& models, const v1::ProjectRequest& request,
                                                  std::int64_t max_response_bytes, core::ShareOut share) {
  const auto found = models.Find(request.model(), request.model_version());
  if (!found.ok()) return found.status();
  const core::Model& model = **found;
  if (absl::Status status = CheckModel(model, request); !status.ok()) return status;
  if (absl::Status status = CheckOptions(request, model.vocab_size()); !status.ok()) return status;
  if (absl::Status status = CheckCandidates(model, request); !status.ok()) return status;
  if (!request.has_vectors()) return core::InvalidArgument("INVALID_SHAPE", "vectors are missing");
  const auto vectors = ReadVectors(request.vectors(), model.embedding_dim());
  if (!vectors.ok()) return vectors.status();
  core::ProjectionInput input = ToInput(model.output(), request, model.vocab_size());
  input.vectors = *vectors;
  const std::int64_t count = static_cast<std::int64_t>(vectors->size()) / model.embedding_dim();
  const std::int64_t k = request.candidate_ids().empty() ? input.top_k : request.candidate_ids_size();
  if (absl::Status status = CheckSize(count * k, request.with_tokens(), max_response_bytes); !status.ok()) {
    return status;
  }
  const auto projection = core::Project(model.token().table, input, share);
  if (!projection.ok()) return projection.status();
  if (absl::Status status = model.CheckUndamaged(); !status.ok()) return status;

  v1::ProjectResponse response;
  response.set_model(model.name());
  response.set_model_version(model.version());
  response.set_tied(model.output().tied);
  response.mutable_ids()->Assign(projection->ids.begin(), projection->ids.end());
  if (request.with_tokens()) {
    for (const std::int64_t id : projection->ids) {
      response.add_tokens(core::ValidUtf8(model.vocabulary()->word(id)));
    }
  }
  SetFloats(projection->scores, {count, k}, response.mutable_scores());
  if (request.log_probabilities()) SetFloats(projection->log_sum_exp, {count}, response.mutable_log_sum_exp());
  return response;
}

}  // namespace embd::service
