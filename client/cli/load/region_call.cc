#include <utility>

#include "client/cli/load/one_call.h"
#include "embd/client/shared_region.h"

namespace embd::cli {
namespace {

class RegionCall final : public OneCall {
 public:
  RegionCall(client::Client client, client::SharedRegion region)
      : client_(std::move(client)), region_(std::move(region)) {}

  absl::Status Ask(const Batch& batch, const client::CallOptions& options) override {
    request_ = batch.request;
    request_.output_target = region_.Target();
    const absl::StatusOr<client::EmbedInfo> info = client_.EmbedToRegion(request_, options);
    if (!info.ok()) return info.status();
    return CheckReply(batch, *info, info->written ? static_cast<std::size_t>(info->written->byte_size) : 0);
  }

 private:
  client::Client client_;
  client::SharedRegion region_;
  client::EmbedRequest request_;  // kept for its memory
};

}  // namespace

absl::StatusOr<std::unique_ptr<OneCall>> MakeRegionCall(const client::Client& client, std::size_t most_bytes) {
  absl::StatusOr<client::SharedRegion> region = client::SharedRegion::Create(client, most_bytes);
  if (!region.ok()) return region.status();
  return std::make_unique<RegionCall>(client, *std::move(region));
}

}  // namespace embd::cli
