#include <hiredis/hiredis.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/bench/caller.h"
#include "tests/bench/gpt2_sized.h"

namespace embd::bench {
namespace {

struct FreeContext {
  void operator()(redisContext* context) const { redisFree(context); }
};
struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

// Fetches the token rows of the batch, one MGET a call: `row:ID` has the row of that id. Rows stay in the library's
// reply, and nothing is added to them.
class RedisCaller final : public Caller {
 public:
  RedisCaller(redisContext* context, const LoadOptions& options) : Caller(options.TensorBytes()), context_(context) {
    words_.emplace_back("MGET");
    for (const std::int64_t id : options.Ids()) words_.push_back(absl::StrCat("row:", id));
    for (const std::string& word : words_) {
      arguments_.push_back(word.data());
      lengths_.push_back(word.size());
    }
  }

  absl::Status Call(std::span<std::byte> out) override {
    auto reply = Ask();
    if (!reply.ok()) return reply.status();
    for (std::size_t i = 0; i < (*reply)->elements; ++i) {
      std::memcpy(out.data() + i * kRowBytes, (*reply)->element[i]->str, kRowBytes);
    }
    return absl::OkStatus();
  }

  absl::Status Run(Clock::time_point end, std::vector<float>* microseconds) override {
    for (int calls = 0; calls < kLeastCalls || Clock::now() < end; ++calls) {
      const Clock::time_point start = Clock::now();
      if (absl::Status status = Ask().status(); !status.ok()) return status;
      microseconds->push_back(MicrosecondsSince(start));
    }
    return absl::OkStatus();
  }

 private:
  static constexpr std::size_t kRowBytes = kDim * sizeof(float);

  absl::StatusOr<Reply> Ask() {
    Reply reply(static_cast<redisReply*>(
        redisCommandArgv(context_.get(), static_cast<int>(arguments_.size()), arguments_.data(), lengths_.data())));
    if (reply == nullptr) return absl::UnavailableError(context_->errstr);
    if (reply->type != REDIS_REPLY_ARRAY) return absl::InternalError("MGET does not answer with a list");
    if (reply->elements * kRowBytes != out().size()) return WrongSize(reply->elements * kRowBytes, out().size());
    for (std::size_t i = 0; i < reply->elements; ++i) {
      if (reply->element[i]->len != kRowBytes) return WrongSize(reply->element[i]->len, kRowBytes);
    }
    return reply;
  }

  const std::unique_ptr<redisContext, FreeContext> context_;
  std::vector<std::string> words_;
  std::vector<const char*> arguments_;
  std::vector<std::size_t> lengths_;
};

}  // namespace

MadeCaller MakeRedisCaller(const LoadOptions& options) {
  redisContext* const context = redisConnectUnix(options.address.c_str());
  if (context == nullptr) return absl::ResourceExhaustedError("no memory for a connection to Redis");
  auto caller = std::make_unique<RedisCaller>(context, options);
  if (context->err != 0) return absl::UnavailableError(context->errstr);
  return caller;
}

}  // namespace embd::bench
