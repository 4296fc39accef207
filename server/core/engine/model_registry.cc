#include "server/core/engine/model_registry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"

namespace embd::core {
namespace {

constexpr std::size_t kMaxNames = 10;

}  // namespace

void ModelRegistry::Put(std::shared_ptr<const Model> model) {
  const std::string name = model->name();
  const MutexLock lock(&mutex_);
  absent_.erase(name);
  models_[name].swap(model);  // what was there is freed by `model`, after the lock
}

void ModelRegistry::Remove(const std::string& name) {
  std::shared_ptr<const Model> removed;  // freed after the lock
  const MutexLock lock(&mutex_);
  absent_.erase(name);
  const auto found = models_.find(name);
  if (found == models_.end()) return;
  removed = std::move(found->second);
  models_.erase(found);
}

void ModelRegistry::SetAbsent(const std::string& name, absl::Status why) {
  std::shared_ptr<const Model> removed;  // freed after the lock
  const MutexLock lock(&mutex_);
  absent_[name] = std::move(why);
  const auto found = models_.find(name);
  if (found == models_.end()) return;
  removed = std::move(found->second);
  models_.erase(found);
}

absl::StatusOr<std::shared_ptr<const Model>> ModelRegistry::Find(const std::string& name,
                                                                 absl::string_view version) const {
  std::shared_ptr<const Model> model;
  {
    const MutexLock lock(&mutex_);
    if (const auto found = models_.find(name); found != models_.end()) {
      model = found->second;
    } else if (const auto absent = absent_.find(name); absent != absent_.end()) {
      return absent->second;
    }
  }
  if (model == nullptr) return NotFound(name);
  if (!version.empty() && version != model->version()) {
    return Error(
        absl::StatusCode::kNotFound, "VERSION_NOT_FOUND",
        absl::StrCat("model ", Quote(name), " has no version ", Quote(version), "; it has ", Quote(model->version())));
  }
  return model;
}

absl::Status ModelRegistry::NotFound(const std::string& name) const {
  std::vector<std::string> names;
  std::size_t count = 0;
  {
    const MutexLock lock(&mutex_);
    count = models_.size();
    for (auto entry = models_.begin(); entry != models_.end() && names.size() < kMaxNames; ++entry) {
      names.push_back(Quote(entry->first));
    }
  }
  const std::string more = count > kMaxNames ? absl::StrCat(" and ", count - kMaxNames, " more") : "";
  return Error(absl::StatusCode::kNotFound, "MODEL_NOT_FOUND",
               absl::StrCat("there is no model ", Quote(name), "; there ", count == 1 ? "is " : "are ",
                            names.empty() ? "none" : absl::StrJoin(names, ", "), more));
}

std::vector<std::shared_ptr<const Model>> ModelRegistry::All() const {
  std::vector<std::shared_ptr<const Model>> models;
  const MutexLock lock(&mutex_);
  models.reserve(models_.size());
  for (const auto& [name, model] : models_) models.push_back(model);
  return models;
}

}  // namespace embd::core
