// Tables are replaced while many callers read them.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "embd/client/error.h"
#include "gmock/gmock.h"
#include "tests/support/eventually.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd {
namespace {

using ::embd::testing::IsOk;

constexpr std::int64_t kRows = 500, kDim = 64;

// A server of one model, "m", whose table has one value everywhere: the generation that it is about to become.
class ReloadUnderLoad : public ::testing::Test {
 protected:
  void Start(std::int64_t rows, std::int64_t dim) {
    size_ = static_cast<std::size_t>(rows * dim);
    WriteTable(1);
    config_.explicit_model_control = true;
    config_.listen = {"127.0.0.1:0"};
    const config::RawLayout layout = {.dtype = config::StoredType::kFloat32, .rows = rows, .columns = dim};
    config_.models = {{.name = "m", .token = config::TableFile{.path = folder_.Path("t.bin"), .raw = layout}}};
    server_ = app::EmbeddingServer::Start(config_, {}, [this] {
                return absl::StatusOr<config::ServerConfig>(config_);
              }).value();
    client_ = std::make_unique<client::Client>(client::Client::Connect(server_->addresses()[0]).value());
  }

  // Another file in the place of the old one, as a careful writer leaves it.
  void WriteTable(std::int64_t generation) {
    std::filesystem::rename(
        folder_.Write("next", formats::Raw(std::vector<float>(size_, static_cast<float>(generation)))),
        folder_.Path("t.bin"));
  }

  // Embeds until `stop`; every reply must be of one generation, which it names.
  void Call(std::size_t caller) {
    const client::EmbedRequest request = {
        .model = "m", .ids = {1, 2, 499, 9, 0, 7}, .batch_size = 2, .sequence_length = 3};
    for (std::int64_t last = 1; !stop_; ++calls_) {
      const auto reply = client_->Embed(request);
      ASSERT_THAT(reply, IsOk());
      const client::EmbedInfo& info = reply->info();
      const std::span<const float> values = reply->As<float>().value();
      ASSERT_TRUE(std::ranges::all_of(values, [&](float v) { return v == static_cast<float>(info.generation); }))
          << "caller " << caller << " got " << values[0] << " of generation " << info.generation;
      ASSERT_GE(info.generation, last) << "a table that was replaced has come back";
      last = info.generation;
      const std::lock_guard lock(mutex_);
      const auto [known, fresh] = checksums_.emplace(info.generation, info.checksum);
      ASSERT_EQ(known->second, info.checksum);
    }
  }

  // `reload` is called 50 times beside 64 callers, each time with another table in the file; returns the generation and
  // checksum that are served then.
  void ReloadFiftyTimes(const std::function<client::LoadedModel()>& reload) {
    std::vector<std::thread> callers;
    for (std::size_t i = 0; i < 64; ++i) callers.emplace_back([this, i] { Call(i); });
    for (std::int64_t generation = 2; generation <= 51; ++generation) {
      WriteTable(generation);
      const client::LoadedModel loaded = reload();
      EXPECT_EQ(loaded.generation, generation);
      const int before = calls_;
      EXPECT_TRUE(testing::Eventually([&] { return calls_ > before + 128; }));
      const std::lock_guard lock(mutex_);
      EXPECT_EQ(checksums_[generation], loaded.checksum);
    }
    stop_ = true;
    for (std::thread& caller : callers) caller.join();
  }

  formats::ScratchFolder folder_;
  std::size_t size_ = 0;
  config::ServerConfig config_;
  std::unique_ptr<app::EmbeddingServer> server_;
  std::unique_ptr<client::Client> client_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> calls_ = 0;
  std::mutex mutex_;
  std::map<std::int64_t, std::string> checksums_;  // by generation
};

TEST_F(ReloadUnderLoad, EveryReplyIsWhollyOfOneGenerationWhileTheModelIsLoadedAnew) {
  Start(kRows, kDim);

  ReloadFiftyTimes([this] { return client_->LoadModel("m").value(); });
}

TEST_F(ReloadUnderLoad, EveryReplyIsWhollyOfOneGenerationWhileTheConfigurationIsFollowed) {
  Start(kRows, kDim);

  ReloadFiftyTimes([this] {
    const auto report = client_->ReloadConfig().value();
    EXPECT_EQ(report.reloaded.size(), 1u);
    return report.reloaded.at(0);
  });
}

TEST_F(ReloadUnderLoad, DamagedFileKeepsWhatIsServed) {
  Start(kRows, kDim);
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < 8; ++i) callers.emplace_back([this, i] { Call(i); });

  std::filesystem::rename(folder_.Write("next", "cut short"), folder_.Path("t.bin"));
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(client_->LoadModel("m").ok());
    EXPECT_EQ(client_->ReloadConfig().value().failures.size(), 1u);
  }
  WriteTable(2);
  EXPECT_EQ(client_->LoadModel("m").value().generation, 2);

  stop_ = true;
  for (std::thread& caller : callers) caller.join();
}

// Loads, unloads and reloads at once: calls either succeed or are told that the model is out.
TEST_F(ReloadUnderLoad, LoadsUnloadsAndReloadsAtOnceLeaveAServerThatServes) {
  Start(kRows, kDim);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i] {
      for (int round = 0; round < 50; ++round) {
        switch ((i + round) % 4) {
          case 0: EXPECT_THAT(client_->LoadModel("m"), IsOk()); break;
          case 1: EXPECT_THAT(client_->UnloadModel("m"), IsOk()); break;
          case 2: EXPECT_THAT(client_->ReloadConfig(), IsOk()); break;
          default: {
            const auto reply = client_->Embed({.model = "m", .ids = {1}, .batch_size = 1, .sequence_length = 1});
            EXPECT_TRUE(reply.ok() || client::ErrorReason(reply.status()) == "MODEL_NOT_LOADED" ||
                        client::ErrorReason(reply.status()) == "MODEL_LOADING")
                << reply.status();
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_THAT(client_->LoadModel("m"), IsOk());
  EXPECT_THAT(client_->Embed({.model = "m", .ids = {1}, .batch_size = 1, .sequence_length = 1}), IsOk());
}

// Sanitizers keep memory of their own beside ours.
#ifndef EMBD_SANITIZED

std::int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST_F(ReloadUnderLoad, MemoryDoesNotGrowWithTheNumberOfReloads) {
  Start(4096, 512);  // 8 MiB
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < 4; ++i) callers.emplace_back([this, i] { Call(i); });
  std::int64_t after_50 = 0;
  for (std::int64_t generation = 2; generation <= 201; ++generation) {
    WriteTable(generation);
    ASSERT_EQ(client_->ReloadConfig().value().reloaded.size(), 1u);
    if (generation == 51) after_50 = ResidentBytes();
  }
  const std::int64_t after_200 = ResidentBytes();
  stop_ = true;
  for (std::thread& caller : callers) caller.join();

  EXPECT_LT(after_200, after_50 + after_50 / 20) << "after 50 reloads: " << after_50;
}

#endif

}  // namespace
}  // namespace embd
