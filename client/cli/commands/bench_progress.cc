#include "client/cli/commands/bench_progress.h"

#include <algorithm>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace embd::cli {
namespace {

constexpr char kStartOfCleanLine[] = "\r\x1b[K";
constexpr absl::Duration kSpeedSpan = absl::Milliseconds(500);
constexpr double kBarWidth = 30;

}  // namespace

void BenchProgress::Look(absl::Duration measured, std::int64_t ended) {
  if (terminal_ == nullptr) return;
  if (measured - speed_from_ >= kSpeedSpan) {
    calls_per_s_ = static_cast<double>(ended - speed_from_calls_) / absl::ToDoubleSeconds(measured - speed_from_);
    speed_from_ = measured;
    speed_from_calls_ = ended;
  }
  *terminal_ << kStartOfCleanLine << Line(measured, ended) << std::flush;
}

void BenchProgress::Clear() {
  if (terminal_ != nullptr) *terminal_ << kStartOfCleanLine << std::flush;
}

double BenchProgress::PartDone(absl::Duration measured, std::int64_t ended) const {
  double part = absl::FDivDuration(measured, pace_.duration);  // 0 where there is no end
  if (pace_.calls) part = std::max(part, static_cast<double>(ended) / static_cast<double>(*pace_.calls));
  return std::clamp(part, 0.0, 1.0);
}

std::string BenchProgress::Line(absl::Duration measured, std::int64_t ended) const {
  if (measured < absl::ZeroDuration()) {
    return absl::StrFormat("warming up, %.1f s left", -absl::ToDoubleSeconds(measured));
  }
  const auto filled = static_cast<std::size_t>(PartDone(measured, ended) * kBarWidth);
  const std::string bar = std::string(filled, '#') + std::string(static_cast<std::size_t>(kBarWidth) - filled, '.');
  std::string line = absl::StrFormat("[%s] %.1f", bar, absl::ToDoubleSeconds(measured));
  if (pace_.duration != absl::InfiniteDuration()) {
    absl::StrAppendFormat(&line, " of %g", absl::ToDoubleSeconds(pace_.duration));
  }
  absl::StrAppendFormat(&line, " s, %d", ended);
  if (pace_.calls) absl::StrAppend(&line, " of ", *pace_.calls);
  return absl::StrCat(line, " calls, ", absl::StrFormat("%.0f", calls_per_s_), " calls/s");
}

}  // namespace embd::cli
