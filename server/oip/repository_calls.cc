#include "server/oip/repository_calls.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/oip/infer_parameters.h"
#include "server/oip/quote.h"

namespace embd::oip {
namespace {

using service::ModelControl;

absl::Status CheckRepository(const std::string& repository) {
  if (repository.empty()) return absl::OkStatus();
  return core::Error(absl::StatusCode::kUnimplemented, "INVALID_OPTION",
                     "'repository_name' specification is not supported: there is one repository");
}

absl::Status CheckMayControl(const ModelControl& control, const std::string& repository) {
  if (control.is_explicit()) return CheckRepository(repository);
  return core::Error(absl::StatusCode::kUnavailable, "MODEL_CONTROL_OFF",
                     "explicit model load / unload is not allowed: server.model_control is none");
}

// What Triton says of names that cannot be names of folders.
absl::Status CheckName(const std::string& model) {
  const absl::string_view trimmed = absl::StripAsciiWhitespace(model);
  if (trimmed.empty()) {
    return core::InvalidArgument("INVALID_OPTION", "Model name cannot be empty. Please enter a valid name to deploy.");
  }
  if (trimmed == ".." || absl::StrContains(trimmed, '/') || absl::StrContains(trimmed, '\\')) {
    return core::InvalidArgument("INVALID_OPTION",
                                 absl::StrCat("invalid model name ", InQuotes(model),
                                              ", model name must not contain path traversal characters"));
  }
  return absl::OkStatus();
}

// In Triton's words, which its clients look for; what is wrong follows.
absl::Status Failed(absl::string_view what, const std::string& model, const absl::Status& status) {
  absl::string_view why;
  if (status.code() == absl::StatusCode::kNotFound) why = "failed to poll from model repository: ";
  return core::Error(status.code(), core::ErrorReason(status),
                     absl::StrCat("failed to ", what, " ", InQuotes(model), ", ", why, status.message()));
}

absl::string_view StateName(ModelControl::State state) {
  switch (state) {
    case ModelControl::State::kReady: return "READY";
    case ModelControl::State::kLoading: return "LOADING";
    case ModelControl::State::kUnavailable: return "UNAVAILABLE";
  }
  return "UNKNOWN";
}

}  // namespace

absl::StatusOr<::inference::RepositoryIndexResponse> AnswerIndex(const Context& context,
                                                                 const ::inference::RepositoryIndexRequest& request) {
  if (absl::Status status = CheckRepository(request.repository_name()); !status.ok()) return status;
  std::map<std::string, ModelControl::Entry> entries;
  for (ModelControl::Entry& entry : context.control.Index()) {
    const std::string name = entry.name;
    entries[name] = std::move(entry);
  }
  for (const auto& servable : context.servables.All()) {
    entries[servable->name()] = {servable->name(), servable->version(), ModelControl::State::kReady, ""};
  }
  ::inference::RepositoryIndexResponse response;
  for (const auto& [name, entry] : entries) {
    if (request.ready() && entry.state != ModelControl::State::kReady) continue;
    auto& message = *response.add_models();
    message.set_name(name);
    message.set_version(entry.version);
    message.set_state(std::string(StateName(entry.state)));
    message.set_reason(entry.reason);
  }
  return response;
}

absl::StatusOr<::inference::RepositoryModelLoadResponse> AnswerLoad(
    Context& context, const ::inference::RepositoryModelLoadRequest& request,
    std::chrono::steady_clock::time_point asked) {
  const std::string& model = request.model_name();
  if (absl::Status status = CheckMayControl(context.control, request.repository_name()); !status.ok()) return status;
  if (absl::Status status = CheckName(model); !status.ok()) return status;
  if (!request.parameters().empty()) {
    return core::InvalidArgument(
        "INVALID_OPTION", absl::StrCat("failed to load ", InQuotes(model), ", parameter ",
                                       InQuotes(InOrder(request.parameters()).front()->first),
                                       " is not supported: models are loaded as the server's configuration says"));
  }
  if (const auto loaded = context.control.LoadSince(model, asked); !loaded.ok()) {
    return Failed("load", model, loaded.status());
  }
  return ::inference::RepositoryModelLoadResponse();
}

absl::StatusOr<::inference::RepositoryModelUnloadResponse> AnswerUnload(
    Context& context, const ::inference::RepositoryModelUnloadRequest& request) {
  const std::string& model = request.model_name();
  if (absl::Status status = CheckMayControl(context.control, request.repository_name()); !status.ok()) return status;
  for (const auto* const parameter : InOrder(request.parameters())) {
    const auto& [name, value] = *parameter;
    const bool known = name == "unload_dependents" && value.has_bool_param();
    if (known) continue;
    return core::InvalidArgument(
        "INVALID_OPTION",
        absl::StrCat("parameter ", InQuotes(name), " is not supported; allowed is 'unload_dependents', a bool_param"));
  }
  if (absl::Status status = context.control.Unload(model); !status.ok()) return Failed("unload", model, status);
  return ::inference::RepositoryModelUnloadResponse();
}

}  // namespace embd::oip
