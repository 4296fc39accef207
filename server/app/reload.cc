#include "server/app/reload.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/config/changed_settings.h"
#include "server/core/error.h"
#include "server/observability/log.h"

namespace embd::app {
namespace {

using service::ReloadReport;

absl::StatusOr<config::ServerConfig> Reread(const Reload::Read& read) {
  if (read != nullptr) return read();
  return core::Error(absl::StatusCode::kFailedPrecondition, "RELOAD_OFF",
                     "this server was started without a way to read its configuration again");
}

void LogReport(const ReloadReport& report) {
  observability::LogInfo(absl::StrCat("configuration read again: ", report.loaded.size(), " loaded, ",
                                      report.reloaded.size(), " loaded anew, ", report.unloaded.size(), " unloaded, ",
                                      report.unchanged.size(), " unchanged, ", report.failures.size(), " failed"));
  if (!report.applied.empty()) {
    observability::LogInfo(absl::StrCat("now in force: ", absl::StrJoin(report.applied, ", ")));
  }
  if (!report.needs_restart.empty()) {
    observability::LogWarning(absl::StrCat("differs from what is in force, and is only read at the start: ",
                                           absl::StrJoin(report.needs_restart, ", ")));
  }
}

}  // namespace

Reload::Reload(config::ServerConfig started, Read read, std::vector<LiveSetting> live, ModelRepository* repository)
    : started_(std::move(started)), read_(std::move(read)), live_(std::move(live)), repository_(repository) {}

absl::StatusOr<ReloadReport> Reload::Run() {
  const core::MutexLock lock(&one_);
  const auto now = Reread(read_);
  if (!now.ok()) {
    observability::LogError(
        absl::StrCat("nothing is changed, for the configuration cannot be followed: ", now.status().message()));
    return now.status();
  }
  ReloadReport report;
  ApplySettings(*now, report);  // first, for loads may take long
  repository_->Follow(now->models, report);
  LogReport(report);
  return report;
}

void Reload::ApplySettings(const config::ServerConfig& now, ReloadReport& report) const {
  for (const LiveSetting& setting : live_) {
    const auto changed = setting.apply(now);
    if (!changed.ok()) {
      observability::LogWarning(absl::StrCat(setting.key, " stays as it is: ", changed.status().message()));
      report.failures.push_back({.setting = setting.key, .status = changed.status()});
    } else if (*changed) {
      report.applied.push_back(setting.key);
    }
  }
  for (std::string& key : config::ChangedSettings(started_, now)) {
    const bool is_live =
        std::any_of(live_.begin(), live_.end(), [&key](const LiveSetting& setting) { return setting.key == key; });
    if (!is_live) report.needs_restart.push_back(std::move(key));
  }
}

}  // namespace embd::app
