#include "client/cli/load/one_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace embd::cli {
namespace {

// Asks through a Client or a CachingClient, into memory of its own.
template <typename Client>
class CallIntoMemory final : public OneCall {
 public:
  CallIntoMemory(Client client, std::size_t most_bytes)
      : client_(std::move(client)), memory_(std::make_unique_for_overwrite<std::byte[]>(most_bytes)) {}

  absl::Status Ask(const Batch& batch, const client::CallOptions& options) override {
    const std::span<std::byte> out(memory_.get(), batch.reply_bytes);
    const absl::StatusOr<client::EmbedInfo> info = client_.EmbedInto(batch.request, out, options);
    if (!info.ok()) return info.status();
    return CheckReply(batch, *info, out.size());
  }

 private:
  Client client_;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace

std::unique_ptr<OneCall> MakeUnaryCall(client::Client client, std::size_t most_bytes) {
  return std::make_unique<CallIntoMemory<client::Client>>(std::move(client), most_bytes);
}

std::unique_ptr<OneCall> MakeCachedCall(client::CachingClient client, std::size_t most_bytes) {
  return std::make_unique<CallIntoMemory<client::CachingClient>>(std::move(client), most_bytes);
}

absl::Status CheckReply(const Batch& batch, const client::EmbedInfo& info, std::size_t byte_size) {
  if (info.shape == batch.reply_shape && info.data_type == batch.request.output_type &&
      byte_size == batch.reply_bytes) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("the reply is ", client::DataTypeName(info.data_type), " of shape (",
                                          absl::StrJoin(info.shape, ", "), "), ", byte_size, " bytes; it must be ",
                                          client::DataTypeName(batch.request.output_type), " of shape (",
                                          absl::StrJoin(batch.reply_shape, ", "), "), ", batch.reply_bytes, " bytes"));
}

}  // namespace embd::cli
