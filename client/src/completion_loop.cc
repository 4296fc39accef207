#include "client/src/completion_loop.h"

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace embd::client {
namespace {

void Run(grpc::CompletionQueue* queue) {
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) static_cast<Completion*>(tag)->Done(ok);
}

}  // namespace

void OpenQueue::Close() {
  const MutexLock lock(&mutex_);
  closed_ = true;
  queue_.Shutdown();
}

CompletionLoop::~CompletionLoop() {
  if (queue_ == nullptr) return;
  queue_->Close();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

absl::StatusOr<std::shared_ptr<OpenQueue>> CompletionLoop::Queue() {
  const MutexLock lock(&mutex_);
  if (queue_ != nullptr) return queue_;
  auto queue = std::make_shared<OpenQueue>();
  try {
    thread_ = std::thread([queue] { Run(&queue->queue_); });
  } catch (const std::system_error& error) {
    queue->Close();
    Run(&queue->queue_);
    return absl::ResourceExhaustedError(absl::StrCat("no thread for asynchronous calls: ", error.what()));
  }
  queue_ = std::move(queue);
  return queue_;
}

}  // namespace embd::client
