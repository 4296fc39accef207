#include "server/app/file_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace embd::app {
namespace {

std::string PrintOf(const std::string& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) return absl::StrCat("error ", errno);
  return absl::StrCat(found.st_dev, " ", found.st_ino, " ", found.st_mode, " ", found.st_size, " ",
                      found.st_mtim.tv_sec, ".", found.st_mtim.tv_nsec, " ", found.st_ctim.tv_sec, ".",
                      found.st_ctim.tv_nsec);
}

}  // namespace

FileWatch::FileWatch(std::vector<std::string> paths, absl::Duration period, std::function<bool()> on_change,
                     absl::Duration longest_pause)
    : paths_(std::move(paths)),
      period_(period),
      on_change_(std::move(on_change)),
      longest_pause_(longest_pause),
      taken_(Look()),
      seen_(taken_),
      thread_([this] { Run(); }) {}

FileWatch::~FileWatch() {
  {
    const core::MutexLock lock(&mutex_);
    stop_ = true;
  }
  stop_asked_.NotifyAll();
  thread_.join();
}

FileWatch::Prints FileWatch::Look() const {
  Prints prints;
  for (const std::string& path : paths_) prints.push_back(PrintOf(path));
  return prints;
}

// False where the watch is to end.
bool FileWatch::WaitForPeriod() {
  const core::MutexLock lock(&mutex_);
  const auto end = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(period_);
  while (!stop_) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds(0)) return true;
    stop_asked_.WaitFor(&mutex_, left);
  }
  return false;
}

void FileWatch::Run() {
  while (WaitForPeriod()) {
    Prints now = Look();
    const bool changed = now != taken_ && now == seen_;
    const bool again =
        pause_.has_value() && std::chrono::steady_clock::now() - tried_ >= absl::ToChronoNanoseconds(*pause_);
    if (changed || again) {
      taken_ = now;
      tried_ = std::chrono::steady_clock::now();
      const absl::Duration pause = changed || !pause_.has_value() ? period_ : std::min(2 * *pause_, longest_pause_);
      pause_ = on_change_() ? std::nullopt : std::make_optional(pause);
    }
    seen_ = std::move(now);
  }
}

}  // namespace embd::app
