#include <utility>

#include "client/cli/load/one_call.h"

namespace embd::cli {
namespace {

class CachedCall final : public OneCall {
 public:
  CachedCall(client::CachingClient client, std::size_t most_bytes)
      : client_(std::move(client)), memory_(std::make_unique_for_overwrite<std::byte[]>(most_bytes)) {}

  absl::Status Ask(const Batch& batch, const client::CallOptions& options) override {
    const std::span<std::byte> out(memory_.get(), batch.reply_bytes);
    const absl::StatusOr<client::EmbedInfo> info = client_.EmbedInto(batch.request, out, options);
    if (!info.ok()) return info.status();
    return CheckReply(batch, *info, out.size());
  }

 private:
  client::CachingClient client_;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace

std::unique_ptr<OneCall> MakeCachedCall(client::CachingClient client, std::size_t most_bytes) {
  return std::make_unique<CachedCall>(std::move(client), most_bytes);
}

}  // namespace embd::cli
