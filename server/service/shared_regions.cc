#include "server/service/shared_regions.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"
#include "server/service/overload.h"
#include "server/service/region_file.h"

namespace embd::service {
namespace {

constexpr std::size_t kMaxNameBytes = 128;
constexpr std::size_t kMaxNamesTold = 10;
constexpr std::int64_t kOffsetStep = 4096;

bool IsName(absl::string_view name) {
  const auto is_alphanumeric = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); };
  return !name.empty() && name.size() <= kMaxNameBytes && is_alphanumeric(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_alphanumeric(c) || absl::StrContains("._-", c); });
}

absl::Status Check(const v1::Region& region) {
  if (!IsName(region.name())) {
    return core::InvalidArgument(
        "INVALID_OPTION",
        absl::StrCat("region.name must be 1 to ", kMaxNameBytes,
                     " letters, digits, '.', '_' or '-', a letter or digit first, got ", core::Quote(region.name())));
  }
  if (region.offset() < 0 || region.offset() % kOffsetStep != 0) {
    return core::InvalidArgument("INVALID_OPTION", absl::StrCat("region.offset must be at least 0 and a multiple of ",
                                                                kOffsetStep, ", got ", region.offset()));
  }
  if (region.byte_size() < 1) {
    return core::InvalidArgument("INVALID_OPTION",
                                 absl::StrCat("region.byte_size must be at least 1, got ", region.byte_size()));
  }
  if (region.byte_size() > std::numeric_limits<std::int64_t>::max() - region.offset()) {
    return core::InvalidArgument("INVALID_OPTION", absl::StrCat("region.offset ", region.offset(), " and byte_size ",
                                                                region.byte_size(), " exceed 2^63 - 1 together"));
  }
  return absl::OkStatus();
}

}  // namespace

SharedRegions::Share::~Share() {
  const core::MutexLock lock(&usage_->mutex);
  --usage_->regions;
  usage_->bytes -= bytes_;
}

absl::StatusOr<std::unique_ptr<SharedRegions::Share>> SharedRegions::Count(std::int64_t bytes) {
  const auto too_many = [](absl::string_view what) {
    return core::Error(absl::StatusCode::kResourceExhausted, "TOO_MANY_REGIONS",
                       absl::StrCat(what, "; unregister one, or raise the limit in the server's configuration"));
  };
  const core::MutexLock lock(&usage_->mutex);
  if (usage_->regions >= limits_.max_regions) {
    return too_many(absl::StrCat("there are server.shared_memory.max_regions ", limits_.max_regions, " regions"));
  }
  if (bytes > limits_.max_bytes - usage_->bytes) {
    return too_many(absl::StrCat("a region of ", bytes, " bytes beside ", usage_->bytes,
                                 " others exceeds server.shared_memory.max_bytes ", limits_.max_bytes));
  }
  auto share = std::make_unique<Share>(usage_, bytes);
  ++usage_->regions;
  usage_->bytes += bytes;
  return share;
}

absl::StatusOr<std::shared_ptr<const core::SharedRegion>> SharedRegions::Map(const v1::Region& region) {
  auto share = Count(region.byte_size());
  if (!share.ok()) return share.status();
  const auto file = RegionFile::Open(limits_.prefix, region.path(), region.offset() + region.byte_size());
  if (!file.ok()) return file.status();
  auto memory = core::SharedRegion::Map(file->descriptor(), static_cast<std::uint64_t>(region.offset()),
                                        static_cast<std::size_t>(region.byte_size()));
  if (!memory.ok()) return memory.status();
  struct Counted {
    std::unique_ptr<Share> share;  // ends after the mapping
    std::unique_ptr<core::SharedRegion> memory;
  };
  auto counted = std::make_shared<Counted>(Counted{.share = *std::move(share), .memory = *std::move(memory)});
  const core::SharedRegion* const bare = counted->memory.get();
  return std::shared_ptr<const core::SharedRegion>(std::move(counted), bare);
}

absl::Status SharedRegions::Register(const v1::Region& region) {
  if (absl::Status status = Check(region); !status.ok()) return status;
  {
    const core::MutexLock lock(&mutex_);
    if (!entries_.emplace(region.name(), Entry{.description = region, .memory = nullptr}).second) {
      return core::Error(absl::StatusCode::kFailedPrecondition, "REGION_EXISTS",
                         absl::StrCat("there is a region ", core::Quote(region.name()), " already"));
    }
  }
  std::shared_ptr<const core::SharedRegion> memory;
  absl::Status status = WithinMemory([&] {
    auto mapped = Map(region);
    if (!mapped.ok()) return mapped.status();
    memory = *std::move(mapped);
    return absl::OkStatus();
  });
  const core::MutexLock lock(&mutex_);
  const auto entry = entries_.find(region.name());
  if (status.ok()) {
    entry->second.memory = std::move(memory);
  } else {
    entries_.erase(entry);
  }
  return status;
}

absl::Status SharedRegions::Unregister(const std::string& name) {
  std::shared_ptr<const core::SharedRegion> last;  // unmapped, if by nobody else, after the lock
  const core::MutexLock lock(&mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second.memory == nullptr) return NotFound(name);
  last = std::move(found->second.memory);
  entries_.erase(found);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const core::SharedRegion>> SharedRegions::Find(const std::string& name) const {
  const core::MutexLock lock(&mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second.memory == nullptr) return NotFound(name);
  return found->second.memory;
}

std::vector<v1::Region> SharedRegions::All() const {
  std::vector<v1::Region> regions;
  const core::MutexLock lock(&mutex_);
  for (const auto& [name, entry] : entries_) {
    if (entry.memory != nullptr) regions.push_back(entry.description);
  }
  return regions;
}

absl::Status SharedRegions::NotFound(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& [other, entry] : entries_) {
    if (entry.memory != nullptr) names.push_back(core::Quote(other));
  }
  const std::size_t count = names.size();
  if (count > kMaxNamesTold) names.resize(kMaxNamesTold);
  const std::string more = count > kMaxNamesTold ? absl::StrCat(" and ", count - kMaxNamesTold, " more") : "";
  return core::Error(absl::StatusCode::kNotFound, "REGION_NOT_FOUND",
                     absl::StrCat("there is no region ", core::Quote(name), "; there ", count == 1 ? "is " : "are ",
                                  names.empty() ? "none" : absl::StrJoin(names, ", "), more));
}

}  // namespace embd::service
