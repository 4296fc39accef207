#include "tests/stress/actor.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "embd/client/error.h"
#include "gtest/gtest.h"
#include "tests/stress/life.h"

namespace embd::stress {
namespace {

std::string Outcome(const absl::Status& status) {
  std::string reason = client::ErrorReason(status);
  return reason.empty() ? absl::StatusCodeToString(status.code()) : reason;
}

// What calls for the model may meet beside their answers.
std::vector<absl::string_view> RefusalsOf(const std::string& model) {
  const std::vector<std::string>& fleeting = Corpus::FleetingModels();
  if (std::find(fleeting.begin(), fleeting.end(), model) == fleeting.end()) return {};
  return {"MODEL_NOT_LOADED", "MODEL_LOADING", "MODEL_NOT_FOUND", "TABLE_DAMAGED"};
}

}  // namespace

std::vector<absl::string_view> LoadRefusals() {
  return {"INVALID_FILE", "LAYOUT_MISMATCH", "TABLE_DAMAGED", "MODEL_NOT_FOUND", "STOPPING"};
}

void Tally::Count(const std::string& action, const std::string& outcome) {
  const core::MutexLock lock(&mutex_);
  ++counts_[action][outcome];
}

bool Tally::WasAnswered(const std::string& action) const {
  const core::MutexLock lock(&mutex_);
  const auto found = counts_.find(action);
  return found != counts_.end() && found->second.count("OK") > 0;
}

std::string Tally::Text() const {
  const core::MutexLock lock(&mutex_);
  std::string text;
  for (const auto& [action, outcomes] : counts_) {
    absl::StrAppend(&text, action, ":");
    for (const auto& [outcome, count] : outcomes) absl::StrAppend(&text, " ", outcome, " ", count);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

void Recall::Expect(const std::string& question, const std::string& answer) {
  const core::MutexLock lock(&mutex_);
  const auto [known, fresh] = answers_.emplace(question, answer);
  EXPECT_EQ(known->second, answer) << question;
}

std::string Actor::Among(const std::vector<std::string>& names) {
  return names[static_cast<std::size_t>(Below(random_, static_cast<std::int64_t>(names.size())))];
}

void Actor::Pause(std::int64_t max_microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(Below(random_, max_microseconds)));
}

bool Actor::Answered(const absl::Status& status, const std::vector<absl::string_view>& refusals) {
  const std::string outcome = Outcome(status);
  life_.world().tally.Count(action_.name, outcome);
  if (status.ok()) return true;
  const bool shut_down = life_.ending() && (absl::IsUnavailable(status) || absl::IsCancelled(status));
  if (outcome != "OVERLOADED" && !shut_down && std::find(refusals.begin(), refusals.end(), outcome) == refusals.end()) {
    ADD_FAILURE() << action_.name << ": " << status;
  }
  return false;
}

bool Actor::Answered(const Case& batch, const absl::Status& status, std::vector<absl::string_view> refusals) {
  for (const absl::string_view refusal : RefusalsOf(batch.request.model)) refusals.push_back(refusal);
  return Answered(status, refusals);
}

void Actor::Expect(const Case& batch, const absl::StatusOr<client::Embedding>& answer,
                   std::vector<absl::string_view> refusals) {
  if (!Answered(batch, answer.status(), std::move(refusals))) return;
  ExpectBytes(batch, answer->info().checksum, BytesOf(answer->bytes()));
}

void Actor::ExpectBytes(const Case& batch, const std::string& checksum, absl::string_view bytes) {
  const auto expected = batch.expected.find(checksum);
  if (expected == batch.expected.end()) {
    ADD_FAILURE() << action_.name << ": \"" << batch.request.model << "\" never had tables of checksum " << checksum;
  } else if (bytes != expected->second) {
    ADD_FAILURE() << action_.name << ": other bytes of \"" << batch.request.model << "\" than the engine's";
  }
}

}  // namespace embd::stress
