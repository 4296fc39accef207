#include "server/app/model_repository.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/app/model_builder.h"
#include "server/core/error.h"
#include "server/observability/log.h"
#include "server/service/overload.h"

namespace embd::app {
namespace {

std::map<std::string, const config::ModelConfig*> ByName(const std::vector<config::ModelConfig>& models) {
  std::map<std::string, const config::ModelConfig*> names;
  for (const config::ModelConfig& model : models) names.emplace(model.name, &model);
  return names;
}

// What was built and, one line a key, what the model's folder told, so that a wrong value is seen before it is served.
void LogBuilt(const BuiltModel& built, std::chrono::steady_clock::duration elapsed) {
  const core::Model& model = *built.model;
  const std::string prefix = absl::StrCat("model ", core::Quote(model.name()), ": ");
  for (const std::string& warning : built.warnings) observability::LogWarning(absl::StrCat(prefix, warning));
  const std::string again = model.generation() > 1 ? absl::StrCat("generation ", model.generation(), ", ") : "";
  observability::LogInfo(
      absl::StrCat("loaded model ", core::Quote(model.name()), ": ", model.vocab_size(), " x ", model.embedding_dim(),
                   " ", core::ElementTypeName(model.token().table.element_type()), ", position ",
                   core::PositionEncodingName(model.position_encoding()), ", checksum ", model.checksum().substr(0, 12),
                   ", ", again, std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count(), " ms"));
  for (const core::InferredValue& each : model.inferred_from()) {
    observability::LogInfo(absl::StrCat(prefix, each.key, " = ", each.value, " (", each.source, ")"));
  }
  for (const std::string& note : model.notes()) observability::LogInfo(absl::StrCat(prefix, note));
}

}  // namespace

ModelRepository::ModelRepository(const config::ServerConfig& config, TableBudget budget, core::ModelRegistry* models,
                                 service::Statistics* statistics, ServingChanged changed)
    : order_(config.models),
      names_(ByName(order_)),
      is_explicit_(config.explicit_model_control),
      budget_(std::move(budget)),
      models_(models),
      statistics_(statistics),
      changed_(std::move(changed)) {
  for (const config::ModelConfig& model : order_) slots_.try_emplace(model.name);
}

absl::Status ModelRepository::LoadAll() {
  for (const config::ModelConfig& config : order_) {
    if (absl::Status status = LoadOrShare(config); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<service::ModelControl::Entry> ModelRepository::Index() const {
  std::vector<Entry> index;
  index.reserve(names_.size());
  const core::MutexLock lock(&mutex_);
  for (const auto& [name, slot] : slots_) {
    index.push_back({.name = name, .version = names_.at(name)->version, .state = slot.state, .reason = slot.reason});
  }
  return index;
}

absl::Status ModelRepository::CheckAllowed(const std::string& name) const {
  if (!is_explicit_) {
    return core::Error(absl::StatusCode::kUnavailable, "MODEL_CONTROL_OFF",
                       "explicit model load / unload is not allowed: server.model_control is none");
  }
  if (names_.contains(name)) return absl::OkStatus();
  return core::Error(absl::StatusCode::kNotFound, "MODEL_NOT_FOUND",
                     absl::StrCat("the configuration names no model ", core::Quote(name)));
}

absl::Status ModelRepository::Load(const std::string& name) {
  if (absl::Status status = CheckAllowed(name); !status.ok()) return status;
  absl::Status status = LoadOrShare(*names_.at(name));
  statistics_->CountReload(status.ok());
  if (!status.ok()) observability::LogWarning(absl::StrCat("not loaded: ", status.message()));
  return status;
}

absl::Status ModelRepository::LoadOrShare(const config::ModelConfig& config) {
  std::int64_t generation = 0;
  {
    const core::MutexLock lock(&mutex_);
    Slot& slot = slots_.at(config.name);
    while (slot.unloading) state_changed_.Wait(&mutex_);
    if (const std::shared_ptr<Attempt> other = slot.attempt; other != nullptr) {
      while (!other->done) state_changed_.Wait(&mutex_);
      return other->result;
    }
    slot.attempt = std::make_shared<Attempt>();
    if (slot.state != State::kReady) {
      slot.state = State::kLoading;
      slot.reason = "loading";
    }
    generation = slot.generation + 1;
  }
  const absl::Status status = service::WithinMemory([&] { return LoadNow(config, generation); });
  const core::MutexLock lock(&mutex_);
  Slot& slot = slots_.at(config.name);
  if (status.ok()) {
    slot.state = State::kReady;
    slot.reason.clear();
    slot.generation = generation;
  } else if (slot.state == State::kLoading) {
    slot.state = State::kUnavailable;
    slot.reason = std::string(status.message());
  }
  slot.attempt->result = status;
  slot.attempt->done = true;
  slot.attempt.reset();
  state_changed_.NotifyAll();
  return status;
}

absl::Status ModelRepository::LoadNow(const config::ModelConfig& config, std::int64_t generation) {
  const core::MutexLock lock(&one_load_);
  const auto started = std::chrono::steady_clock::now();
  auto built = BuildModel(config, &budget_, generation);
  if (!built.ok()) return built.status();
  const auto elapsed = std::chrono::steady_clock::now() - started;
  LogBuilt(*built, elapsed);
  statistics_->Open(config.name, config.version);
  statistics_->SetLoadTime(config.name, elapsed);
  models_->Put(std::move(built->model));
  changed_(config.name, true);
  return absl::OkStatus();
}

absl::Status ModelRepository::Unload(const std::string& name) {
  if (absl::Status status = CheckAllowed(name); !status.ok()) return status;
  {
    const core::MutexLock lock(&mutex_);
    Slot& slot = slots_.at(name);
    while (slot.attempt != nullptr || slot.unloading) state_changed_.Wait(&mutex_);
    if (slot.state != State::kReady) return absl::OkStatus();
    slot.reason = "unloaded";
    slot.state = State::kUnavailable;
    slot.unloading = true;
  }
  const absl::Status status = service::WithinMemory([&] {
    changed_(name, false);
    models_->Remove(name);
    observability::LogInfo(absl::StrCat("unloaded model ", core::Quote(name)));
    return absl::OkStatus();
  });
  const core::MutexLock lock(&mutex_);
  slots_.at(name).unloading = false;
  state_changed_.NotifyAll();
  return status;
}

}  // namespace embd::app
