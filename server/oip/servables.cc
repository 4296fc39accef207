#include "server/oip/servables.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/oip/quote.h"

namespace embd::oip {
namespace {

absl::Status CheckVersion(const Servable& servable, const std::string& version) {
  if (version.empty() || version == servable.version()) return absl::OkStatus();
  std::int64_t number = 0;
  if (!absl::SimpleAtoi(version, &number)) {
    return core::InvalidArgument(
        "INVALID_OPTION", absl::StrCat("failed to get model version from specified version string ", InQuotes(version),
                                       "; it should be a number, or ", InQuotes(servable.version())));
  }
  return core::Error(
      absl::StatusCode::kNotFound, "VERSION_NOT_FOUND",
      absl::StrCat("Request for unknown model: ", InQuotes(servable.name()), " version ", number, " is not found"));
}

// In Triton's words, of a name that the registry refuses.
absl::Status NotServed(const std::string& name, const absl::Status& why) {
  const std::string beginning = absl::StrCat("Request for unknown model: ", InQuotes(name));
  if (why.code() == absl::StatusCode::kUnavailable) {
    return core::Error(why.code(), core::ErrorReason(why), absl::StrCat(beginning, " is not ready: ", why.message()));
  }
  return core::Error(absl::StatusCode::kNotFound, "MODEL_NOT_FOUND", absl::StrCat(beginning, " is not found"));
}

}  // namespace

Servables::Servables(const core::ModelRegistry* models, const EmbeddingOptions& options,
                     const std::vector<std::shared_ptr<const Servable>>& others)
    : models_(*models), options_(options) {
  for (const auto& each : others) others_[each->name()] = each;
}

absl::StatusOr<std::shared_ptr<const Servable>> Servables::Find(const std::string& name,
                                                                const std::string& version) const {
  std::shared_ptr<const Servable> servable;
  if (const auto other = others_.find(name); other != others_.end()) {
    servable = other->second;
  } else if (auto model = models_.Find(name, ""); model.ok()) {
    servable = OfModel(*std::move(model));
  } else {
    return NotServed(name, model.status());
  }
  if (absl::Status status = CheckVersion(*servable, version); !status.ok()) return status;
  return servable;
}

std::shared_ptr<const Servable> Servables::OfModel(std::shared_ptr<const core::Model> model) const {
  std::shared_ptr<const Signature> signature;
  {
    const core::MutexLock lock(&mutex_);
    Made& made = made_[model->name()];
    if (made.model.lock() != model) made = {model, std::make_shared<Signature>(SignatureOf(*model, options_))};
    signature = made.signature;
  }
  return std::make_shared<EmbeddingServable>(std::move(model), std::move(signature), options_);
}

std::vector<std::shared_ptr<const Servable>> Servables::All() const {
  std::map<std::string, std::shared_ptr<const Servable>> all = others_;
  for (auto& model : models_.All()) {
    const std::string name = model->name();
    if (all.count(name) == 0) all[name] = OfModel(std::move(model));
  }
  std::vector<std::shared_ptr<const Servable>> servables;
  servables.reserve(all.size());
  for (auto& [name, servable] : all) servables.push_back(std::move(servable));
  return servables;
}

}  // namespace embd::oip
