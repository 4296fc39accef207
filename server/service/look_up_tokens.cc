#include "server/service/look_up_tokens.h"

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::service {
namespace {

constexpr int kWordsBetweenLooks = 4096;

}  // namespace

absl::StatusOr<v1::LookUpTokensResponse> AnswerLookUpTokens(const core::ModelRegistry& models,
                                                            const v1::LookUpTokensRequest& request,
                                                            absl::FunctionRef<absl::Status()> interrupted) {
  const auto model = models.Find(request.model(), request.model_version());
  if (!model.ok()) return model.status();
  const core::Vocabulary* const vocabulary = (*model)->vocabulary();
  if (vocabulary == nullptr) {
    return core::Error(absl::StatusCode::kFailedPrecondition, "NO_VOCABULARY",
                       absl::StrCat("model ", core::Quote((*model)->name()), " has no vocabulary; ask by ids"));
  }
  v1::LookUpTokensResponse response;
  response.set_model((*model)->name());
  response.set_model_version((*model)->version());
  for (int i = 0; i < request.tokens_size(); ++i) {
    if (i % kWordsBetweenLooks == 0) {
      if (absl::Status status = interrupted(); !status.ok()) return status;
    }
    const auto id = vocabulary->Find(request.tokens(i));
    if (!id.has_value()) {
      return core::InvalidArgument(
          "UNKNOWN_TOKEN",
          absl::StrCat("tokens[", i, "] = ", core::Quote(request.tokens(i)), " is not in the vocabulary of model ",
                       core::Quote((*model)->name()), ", which has ", vocabulary->size(), " words"));
    }
    response.add_ids(*id);
  }
  return response;
}

}  // namespace embd::service
