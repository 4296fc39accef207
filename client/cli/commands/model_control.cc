#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/waiting.h"
#include "client/cli/render/table_text.h"
#include "embd/client/error.h"

namespace embd::cli {
namespace {

using Json = nlohmann::ordered_json;

// A load that takes longer than the caller waits is not broken off.
Outcome RefusedLoad(const absl::Status& status) {
  Outcome outcome = Refused(status);
  if (outcome.timed_out) outcome.message += "; the server goes on loading, see `embdctl models`";
  return outcome;
}

Json ToJson(const client::LoadedModel& model) {
  return {{"name", model.name},
          {"version", model.version},
          {"generation", model.generation},
          {"checksum", model.checksum},
          {"load_time_ms", absl::ToInt64Milliseconds(model.load_time)}};
}

Json ToJson(const std::vector<client::LoadedModel>& models) {
  Json list = Json::array();
  for (const client::LoadedModel& model : models) list.push_back(ToJson(model));
  return list;
}

Json ToJson(const client::ReloadFailure& failure) {
  Json json = Json::object();
  if (!failure.model.empty()) json["model"] = failure.model;
  if (!failure.setting.empty()) json["setting"] = failure.setting;
  json["code"] = absl::StatusCodeToString(failure.status.code());
  json["reason"] = client::ErrorReason(failure.status);
  json["message"] = std::string(failure.status.message());
  return json;
}

Json ToJson(const client::ReloadReport& report) {
  Json failures = Json::array();
  for (const client::ReloadFailure& failure : report.failures) failures.push_back(ToJson(failure));
  return {{"loaded", ToJson(report.loaded)},
          {"reloaded", ToJson(report.reloaded)},
          {"unloaded", report.unloaded},
          {"unchanged", report.unchanged},
          {"failures", failures},
          {"needs_restart", report.needs_restart},
          {"applied", report.applied}};
}

std::vector<std::string> Row(const client::LoadedModel& model, const std::string& result) {
  return {model.name, result, absl::StrCat(model.generation), absl::StrCat(absl::ToInt64Milliseconds(model.load_time)),
          model.checksum.substr(0, 12)};
}

std::string LoadedText(const std::vector<std::vector<std::string>>& rows) {
  return TableText({{"what"}, {"result"}, {"generation", kRight}, {"ms", kRight}, {"checksum"}}, rows);
}

std::string ToText(const client::ReloadReport& report) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&rows](const std::vector<std::string>& names, const std::string& result) {
    for (const std::string& name : names) rows.push_back({name, result, "", "", ""});
  };
  for (const client::LoadedModel& model : report.loaded) rows.push_back(Row(model, "loaded"));
  for (const client::LoadedModel& model : report.reloaded) rows.push_back(Row(model, "loaded anew"));
  add(report.unloaded, "unloaded");
  add(report.unchanged, "unchanged");
  for (const client::ReloadFailure& failure : report.failures) add({failure.model + failure.setting}, "failed");
  add(report.applied, "applied");
  add(report.needs_restart, "needs a restart");
  return LoadedText(rows);
}

Outcome RunLoad(const std::string& name, const Session& session) {
  const absl::StatusOr<client::LoadedModel> model =
      WhileWaiting(session, [&] { return session.client.LoadModel(name); });
  if (!model.ok()) return RefusedLoad(model.status());
  if (session.json) {
    session.PrintJson(ToJson(*model));
  } else {
    session.world.out << LoadedText({Row(*model, "loaded")});
  }
  return {};
}

Outcome RunUnload(const std::string& name, const Session& session) {
  const absl::Status status = session.client.UnloadModel(name);
  if (!status.ok()) return Refused(status);
  if (session.json) session.PrintJson(Json{{"unloaded", name}});
  return {};
}

Outcome RunReload(const Session& session) {
  const absl::StatusOr<client::ReloadReport> report =
      WhileWaiting(session, [&] { return session.client.ReloadConfig(); });
  if (!report.ok()) return RefusedLoad(report.status());
  if (session.json) {
    session.PrintJson(ToJson(*report));
  } else {
    session.world.out << ToText(*report);
    for (const client::ReloadFailure& failure : report->failures) {
      session.Note(absl::StrCat(failure.model, failure.setting, ": ", Refused(failure.status).message));
    }
  }
  if (report->failures.empty()) return {};
  return {.code = ExitCode::kRefused,
          .message = absl::StrCat(report->failures.size(), " could not be made as the configuration says")};
}

}  // namespace

void AddLoadCommand(CLI::App& app, Action& action) {
  const auto model = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand(
      "load", "Have the server load a model of its configuration, again where it is served (model_control: explicit)");
  command->add_option("MODEL", *model, "Name of a model in the server's configuration")->required()->type_name("");
  command->footer("Example: embdctl load gpt2 --timeout 300");
  command->callback(
      [model, &action] { action.ask_server = [model](const Session& session) { return RunLoad(*model, session); }; });
}

void AddUnloadCommand(CLI::App& app, Action& action) {
  const auto model = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand(
      "unload", "Have the server take a model out of service until it is loaded again (model_control: explicit)");
  command->add_option("MODEL", *model, "Name of a model, see `embdctl models`")->required()->type_name("");
  command->footer("Example: embdctl unload gpt2");
  command->callback(
      [model, &action] { action.ask_server = [model](const Session& session) { return RunUnload(*model, session); }; });
}

void AddReloadCommand(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "reload",
      "Have the server read its configuration again and load what has changed; exits with 1 where that failed");
  command->footer(
      "Examples: embdctl reload --timeout 300\n"
      "          embdctl reload --output json | jq .failures");
  command->callback([&action] { action.ask_server = RunReload; });
}

}  // namespace embd::cli
