#include "server/app/health.h"

#include <utility>

namespace embd::app {

void Health::Set(const std::string& name, bool serving) {
  const core::MutexLock lock(&mutex_);
  const auto [known, fresh] = names_.try_emplace(name, serving);
  const bool changed = fresh || std::exchange(known->second, serving) != serving;
  if (service_ != nullptr && changed) service_->SetServingStatus(name, serving);
}

void Health::Serve(grpc::HealthCheckServiceInterface* service) {
  const core::MutexLock lock(&mutex_);
  service_ = service;
  for (const auto& [name, serving] : names_) service_->SetServingStatus(name, serving);
}

bool Health::IsServing() const {
  const core::MutexLock lock(&mutex_);
  const auto whole = names_.find("");
  return service_ != nullptr && whole != names_.end() && whole->second;
}

void Health::Stop() {
  const core::MutexLock lock(&mutex_);
  // Under the lock, so that no model that is loaded just now comes after it.
  if (service_ != nullptr) std::exchange(service_, nullptr)->SetServingStatus(false);
}

}  // namespace embd::app
