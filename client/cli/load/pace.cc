#include "client/cli/load/pace.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"

namespace embd::cli {
namespace {

constexpr double kMostTurns = 9007199254740992;  // 2^53: further on i / rate is not exact

// A stop is noticed at least so often.
constexpr absl::Duration kLongestSleep = absl::Milliseconds(100);

// Whole distances of 1 / rate in a time; a rate such as 0.1 must not lose one by rounding.
double TurnsIn(absl::Duration time, double rate) { return std::floor(absl::ToDoubleSeconds(time) * rate + 1e-9); }

double WarmupTurns(const PaceSettings& settings) {
  return std::ceil(absl::ToDoubleSeconds(settings.warmup) * *settings.rate - 1e-9);
}

double MeasuredTurns(const PaceSettings& settings) {
  const double turns = TurnsIn(settings.duration, *settings.rate);
  return settings.calls ? std::min(turns, static_cast<double>(*settings.calls)) : turns;
}

}  // namespace

absl::Status CheckPace(const PaceSettings& settings) {
  if (settings.duration == absl::InfiniteDuration() && !settings.calls) {
    return absl::InvalidArgumentError("a load needs a duration or a number of calls");
  }
  if (!settings.rate) return absl::OkStatus();
  if (!(MeasuredTurns(settings) >= 1)) {
    return absl::InvalidArgumentError(absl::StrCat(*settings.rate, " calls a second for ",
                                                   absl::FormatDuration(settings.duration), " are no call at all"));
  }
  if (!(WarmupTurns(settings) + MeasuredTurns(settings) <= kMostTurns)) {
    return absl::InvalidArgumentError(absl::StrCat(*settings.rate, " calls a second for that long are too many"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Pace>> Pace::Start(const PaceSettings& settings, const Clock& clock,
                                                  std::stop_token stop) {
  if (absl::Status status = CheckPace(settings); !status.ok()) return status;
  return std::unique_ptr<Pace>(new Pace(settings, clock, std::move(stop)));
}

Pace::Pace(const PaceSettings& settings, const Clock& clock, std::stop_token stop)
    : settings_(settings),
      clock_(clock),
      stop_(std::move(stop)),
      start_(clock.now()),
      measured_from_(start_ + settings.warmup) {
  if (!settings_.rate) return;
  warmup_turns_ = static_cast<std::int64_t>(WarmupTurns(settings_));
  all_turns_ = warmup_turns_ + static_cast<std::int64_t>(MeasuredTurns(settings_));
}

std::optional<Turn> Pace::Next() { return settings_.rate ? NextOfOpenLoop() : NextOfClosedLoop(); }

std::optional<Turn> Pace::NextOfClosedLoop() {
  if (stop_.stop_requested()) return std::nullopt;
  const absl::Duration now = clock_.now();
  const bool measured = now >= measured_from_;
  if (measured) {
    if (now - measured_from_ >= settings_.duration) return std::nullopt;
    if (settings_.calls && next_measured_.fetch_add(1, std::memory_order_relaxed) >= *settings_.calls) {
      return std::nullopt;
    }
  }
  const std::int64_t number = next_.fetch_add(1, std::memory_order_relaxed);
  return Turn{.number = number, .due = now, .late = absl::ZeroDuration(), .measured = measured};
}

std::optional<Turn> Pace::NextOfOpenLoop() {
  if (stop_.stop_requested()) return std::nullopt;
  const std::int64_t number = next_.fetch_add(1, std::memory_order_relaxed);
  if (number >= all_turns_) return std::nullopt;
  const bool measured = number >= warmup_turns_;
  const std::int64_t index = measured ? number - warmup_turns_ : number;
  const absl::Duration due =
      (measured ? measured_from_ : start_) + absl::Seconds(static_cast<double>(index) / *settings_.rate);
  absl::Duration now = clock_.now();
  for (; now < due; now = clock_.now()) {
    clock_.sleep(std::min(due - now, kLongestSleep));
    if (stop_.stop_requested()) return std::nullopt;
  }
  return Turn{.number = number, .due = due, .late = now - due, .measured = measured};
}

}  // namespace embd::cli
