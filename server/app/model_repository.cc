#include "server/app/model_repository.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/app/model_builder.h"
#include "server/core/error.h"
#include "server/observability/log.h"
#include "server/service/overload.h"

namespace embd::app {
namespace {

using service::LoadedModel;
using service::ReloadReport;

absl::Status NotLoadedYet(const std::string& name) {
  return core::Error(absl::StatusCode::kUnavailable, "MODEL_LOADING",
                     absl::StrCat("model ", core::Quote(name), " is not loaded yet"));
}

absl::Status BeingLoaded(const std::string& name) {
  return core::Error(absl::StatusCode::kUnavailable, "MODEL_LOADING",
                     absl::StrCat("model ", core::Quote(name), " is being loaded"));
}

absl::Status NotLoaded(const std::string& name, absl::string_view why) {
  return core::Error(absl::StatusCode::kUnavailable, "MODEL_NOT_LOADED",
                     absl::StrCat("model ", core::Quote(name), " is not loaded: ", why));
}

absl::Status NotConfigured(const std::string& name) {
  return core::Error(absl::StatusCode::kNotFound, "MODEL_NOT_FOUND",
                     absl::StrCat("the configuration names no model ", core::Quote(name)));
}

absl::Status Stopping() {
  return core::Error(absl::StatusCode::kUnavailable, "STOPPING", "no model is loaded any more: the server is stopping");
}

// Whether two configurations make the same model: whether the server needs it is not of the model.
bool MakeTheSame(const config::ModelConfig& a, config::ModelConfig b) {
  b.required = a.required;
  return a == b;
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
    : is_explicit_(config.explicit_model_control),
      budget_(std::move(budget)),
      models_(models),
      statistics_(statistics),
      changed_(std::move(changed)) {
  for (const config::ModelConfig& model : config.models) {
    slots_[model.name].config = model;
    order_.push_back(model.name);
    models_->SetAbsent(model.name, NotLoadedYet(model.name));
  }
}

absl::Status ModelRepository::LoadAll(const std::function<void()>& required_loaded) {
  std::vector<std::string> required, others;
  {
    const core::MutexLock lock(&mutex_);
    for (const std::string& name : order_) (slots_.at(name).config->required ? required : others).push_back(name);
  }
  const auto load = [&](const std::string& name) -> absl::Status {
    {
      const core::MutexLock lock(&mutex_);  // a configuration that was read meanwhile may be ahead of this
      const Slot& slot = slots_.at(name);
      if (!slot.config.has_value() || slot.state == State::kReady) return absl::OkStatus();
    }
    return LoadOrShare(name, Clock::now()).status();
  };
  for (const std::string& name : required) {
    if (absl::Status status = load(name); !status.ok()) return status;
  }
  required_loaded();
  for (const std::string& name : others) {
    if (absl::Status status = load(name); !status.ok()) {
      observability::LogWarning(absl::StrCat("not loaded, and not required: ", status.message()));
    }
  }
  return absl::OkStatus();
}

std::vector<service::ModelControl::Entry> ModelRepository::Index() const {
  std::vector<Entry> index;
  const core::MutexLock lock(&mutex_);
  index.reserve(order_.size());
  for (const auto& [name, slot] : slots_) {
    if (!slot.config.has_value()) continue;
    index.push_back({.name = name, .version = slot.config->version, .state = slot.state, .reason = slot.reason});
  }
  return index;
}

absl::Status ModelRepository::CheckAllowed(const std::string& name) const {
  if (!is_explicit_) {
    return core::Error(absl::StatusCode::kFailedPrecondition, "MODEL_CONTROL_OFF",
                       "explicit model load / unload is not allowed: server.model_control is none");
  }
  const core::MutexLock lock(&mutex_);
  const auto found = slots_.find(name);
  return found != slots_.end() && found->second.config.has_value() ? absl::OkStatus() : NotConfigured(name);
}

absl::StatusOr<LoadedModel> ModelRepository::LoadSince(const std::string& name, Clock::time_point asked) {
  if (absl::Status status = CheckAllowed(name); !status.ok()) return status;
  Result result = LoadOrShare(name, asked);
  statistics_->CountReload(result.ok());
  if (!result.ok()) observability::LogWarning(absl::StrCat("not loaded: ", result.status().message()));
  return result;
}

ModelRepository::Result ModelRepository::LoadOrShare(const std::string& name, Clock::time_point asked) {
  std::int64_t generation = 0;
  Origin origin;
  for (std::shared_ptr<const Attempt> outdated;;) {
    std::shared_ptr<const Attempt> other;
    {
      const core::MutexLock lock(&mutex_);
      Slot& slot = slots_.at(name);
      while (slot.unloading || slot.attempt != nullptr) state_changed_.Wait(&mutex_);
      if (!slot.config.has_value()) return NotConfigured(name);
      origin.config = *slot.config;
      other = slot.ended;
      if (other == nullptr || other == outdated || other->ended < asked) {
        if (stopping_) return Stopping();
        Begin(name, slot);
        generation = slot.generation + 1;
        break;
      }
    }
    // It was under way when this was asked for: what it read may have changed since.
    if (other->began >= asked) return *other->result;
    if (MakeTheSame(other->origin.config, origin.config) && other->origin.files == StampFiles(origin.config)) {
      return *other->result;
    }
    outdated = std::move(other);
  }
  Result result = absl::UnknownError("");
  const absl::Status status = service::WithinMemory([&] {
    result = LoadNow(generation, origin);
    return result.status();
  });
  if (!status.ok()) result = status;
  const core::MutexLock lock(&mutex_);
  Slot& slot = slots_.at(name);
  if (status.ok()) {
    slot.state = State::kReady;
    slot.reason.clear();
    slot.generation = generation;
    slot.origin = origin;
  } else if (slot.state == State::kLoading) {
    slot.state = State::kUnavailable;
    slot.reason = std::string(status.message());
    slot.origin.reset();
    models_->SetAbsent(name, NotLoaded(name, "it could not be; the server's log says why"));
  }
  slot.attempt->origin = std::move(origin);
  slot.attempt->result = result;
  slot.attempt->ended = Clock::now();
  slot.ended = std::exchange(slot.attempt, nullptr);
  state_changed_.NotifyAll();
  return result;
}

void ModelRepository::Begin(const std::string& name, Slot& slot) {
  slot.attempt = std::make_shared<Attempt>();
  slot.attempt->began = Clock::now();
  if (slot.state == State::kReady) return;
  slot.state = State::kLoading;
  slot.reason = "loading";
  models_->SetAbsent(name, BeingLoaded(name));
}

ModelRepository::Result ModelRepository::LoadNow(std::int64_t generation, Origin& origin) {
  const core::MutexLock lock(&one_load_);
  if (is_stopping()) return Stopping();
  const auto started = Clock::now();
  const config::ModelConfig& config = origin.config;
  origin.files = StampFiles(config);  // before they are read, so that a change meanwhile is seen as one
  auto built = BuildModel(config, &budget_, generation);
  if (!built.ok()) return built.status();
  const auto elapsed = Clock::now() - started;
  LogBuilt(*built, elapsed);
  LoadedModel loaded = {.name = config.name,
                        .version = config.version,
                        .generation = generation,
                        .checksum = built->model->checksum(),
                        .load_time = elapsed};
  statistics_->Open(config.name, config.version);
  statistics_->SetLoadTime(config.name, elapsed);
  models_->Put(std::move(built->model));
  changed_(config.name, true);
  return loaded;
}

absl::Status ModelRepository::Unload(const std::string& name) {
  if (absl::Status status = CheckAllowed(name); !status.ok()) return status;
  return UnloadNow(name, /*forget=*/false);
}

absl::Status ModelRepository::UnloadNow(const std::string& name, bool forget) {
  {
    const core::MutexLock lock(&mutex_);
    Slot& slot = slots_.at(name);
    while (slot.attempt != nullptr || slot.unloading) state_changed_.Wait(&mutex_);
    if (slot.state != State::kReady && !forget) return absl::OkStatus();
    slot.reason = "unloaded";
    slot.state = State::kUnavailable;
    slot.unloading = true;
    if (forget) slot.origin.reset();
  }
  const absl::Status status = service::WithinMemory([&] {
    changed_(name, false);
    forget ? models_->Remove(name) : models_->SetAbsent(name, NotLoaded(name, "it was unloaded"));
    observability::LogInfo(absl::StrCat("unloaded model ", core::Quote(name)));
    return absl::OkStatus();
  });
  const core::MutexLock lock(&mutex_);
  slots_.at(name).unloading = false;
  state_changed_.NotifyAll();
  return status;
}

void ModelRepository::Stop() {
  const core::MutexLock lock(&mutex_);
  stopping_ = true;
}

bool ModelRepository::is_stopping() const {
  const core::MutexLock lock(&mutex_);
  return stopping_;
}

bool ModelRepository::IsLoading() const {
  const core::MutexLock lock(&mutex_);
  return std::any_of(slots_.begin(), slots_.end(), [](const auto& named) { return named.second.attempt != nullptr; });
}

void ModelRepository::Follow(const std::vector<config::ModelConfig>& models, ReloadReport& report) {
  const core::MutexLock lock(&one_follow_);
  for (std::string& name : SetConfiguration(models)) {
    if (absl::Status status = UnloadNow(name, /*forget=*/true); !status.ok()) {
      report.failures.push_back({.model = name, .status = std::move(status)});
    } else {
      report.unloaded.push_back(std::move(name));
    }
  }
  for (const config::ModelConfig& model : models) FollowOne(model, report);
}

std::vector<std::string> ModelRepository::SetConfiguration(const std::vector<config::ModelConfig>& models) {
  std::set<std::string> wanted;
  for (const config::ModelConfig& model : models) wanted.insert(model.name);
  std::vector<std::string> gone;
  const core::MutexLock lock(&mutex_);
  for (const std::string& name : std::exchange(order_, {})) {
    if (wanted.contains(name)) continue;
    slots_.at(name).config.reset();
    gone.push_back(name);
  }
  for (const config::ModelConfig& model : models) {
    order_.push_back(model.name);
    Slot& slot = slots_[model.name];
    const bool known = std::exchange(slot.config, model).has_value();
    if (known) continue;
    slot.reason = "not loaded yet";
    models_->SetAbsent(model.name, NotLoadedYet(model.name));
    changed_(model.name, false);  // before the lock is released, after which it may be loaded
  }
  return gone;
}

void ModelRepository::FollowOne(const config::ModelConfig& model, ReloadReport& report) {
  const std::vector<FileStamp> files = StampFiles(model);
  bool replaces = false;
  {
    const core::MutexLock lock(&mutex_);
    Slot& slot = slots_.at(model.name);
    while (slot.attempt != nullptr || slot.unloading) state_changed_.Wait(&mutex_);
    if (slot.origin.has_value() && slot.origin->files == files && MakeTheSame(slot.origin->config, model)) {
      report.unchanged.push_back(model.name);
      return;
    }
    replaces = slot.state == State::kReady;
  }
  Result result = LoadOrShare(model.name, Clock::now());
  if (!result.ok()) {
    observability::LogWarning(
        absl::StrCat("not loaded", replaces ? ", what was served still is" : "", ": ", result.status().message()));
    report.failures.push_back({.model = model.name, .status = result.status()});
  } else {
    (replaces ? report.reloaded : report.loaded).push_back(*std::move(result));
  }
}

}  // namespace embd::app
