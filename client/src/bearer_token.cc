#include "client/src/bearer_token.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/src/credential_file.h"
#include "client/src/steady_time.h"

namespace embd::client {
namespace {

constexpr char kFileOption[] = "token_file";
constexpr absl::Duration kLookPeriod = absl::Seconds(1);

bool IsSame(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
         a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

}  // namespace

absl::StatusOr<std::shared_ptr<BearerToken>> BearerToken::Create(const ClientOptions& options) {
  if (options.token.empty() && options.token_file.empty()) return std::shared_ptr<BearerToken>();
  if (!options.token.empty() && !options.token_file.empty()) {
    return absl::InvalidArgumentError("token and token_file exclude each other");
  }
  std::shared_ptr<BearerToken> token(new BearerToken(options.token_file));
  const MutexLock lock(&token->mutex_);
  const absl::Status status = token->path_.empty() ? token->Take("token", options.token) : token->ReadFile();
  if (!status.ok()) return status;
  token->next_look_ = SteadyNow() + kLookPeriod;
  return token;
}

std::string BearerToken::Header() {
  const MutexLock lock(&mutex_);
  if (!path_.empty() && SteadyNow() >= next_look_) {
    struct stat found = {};
    if (stat(path_.c_str(), &found) == 0 && !IsSame(found, taken_)) {
      ReadFile().IgnoreError();  // a server that no longer knows the one before says so
    }
    next_look_ = SteadyNow() + kLookPeriod;
  }
  return header_;
}

absl::Status BearerToken::ReadFile() {
  struct stat found = {};
  stat(path_.c_str(), &found);  // before its text, so that a change in between is seen at the next look
  const auto text = ReadCredentialFile(kFileOption, path_);
  if (!text.ok()) return text.status();
  if (absl::Status status = Take(kFileOption, absl::StripAsciiWhitespace(*text)); !status.ok()) return status;
  taken_ = found;
  return absl::OkStatus();
}

absl::Status BearerToken::Take(absl::string_view option, absl::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError(absl::StrCat(option, " holds no token"));
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)); });
  if (!printable) {
    return absl::InvalidArgumentError(absl::StrCat(option, " must hold one token, printable ASCII without spaces"));
  }
  header_ = absl::StrCat("Bearer ", text);
  return absl::OkStatus();
}

}  // namespace embd::client
