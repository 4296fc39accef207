#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "embd/client/shared_region.h"
#include "gmock/gmock.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::byte kPoison{0xCD};
constexpr std::int64_t kDim = 96;

// A server that lets files of a temporary folder be mapped.
class SharedMemory : public ::testing::Test {
 protected:
  SharedMemory() : folder_((std::filesystem::temp_directory_path() / "embd-shared-XXXXXX").string()) {
    if (mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~SharedMemory() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string prefix() const { return absl::StrCat(folder_, "/embd-"); }

  [[nodiscard]] config::ServerConfig Config() const {
    config::ServerConfig config;
    config.models = {testing::SmallModel("tiny", 10, kDim, 4096)};
    config.shared_memory = config::SharedMemory{.prefix = prefix(), .max_regions = 4, .max_bytes = 64 << 20};
    return config;
  }

  // A file of zeros under the prefix, and the region of all its bytes.
  [[nodiscard]] client::Region MakeFile(const std::string& name, std::int64_t byte_size) const {
    const std::string path = prefix() + name;
    std::ofstream(path).close();
    std::filesystem::resize_file(path, static_cast<std::uintmax_t>(byte_size));
    return {.name = name, .path = path, .byte_size = byte_size};
  }

 private:
  std::string folder_;
};

client::EmbedRequest Request(std::int64_t batch, std::int64_t tokens) {
  client::EmbedRequest request = {.model = "tiny", .batch_size = batch, .sequence_length = tokens};
  for (std::int64_t i = 0; i < batch * tokens; ++i) request.ids.push_back(i * 7 % 10);
  return request;
}

void Poison(const client::SharedRegion& region) { std::fill(region.bytes().begin(), region.bytes().end(), kPoison); }

std::vector<std::byte> Copy(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

TEST_F(SharedMemory, HoldsTheBitsOfThePlainReplyAndNothingElseIsTouched) {
  const testing::ServedModels served(Config());
  const client::Client client = served.UnixClient();
  ASSERT_OK_AND_ASSIGN(const client::SharedRegion region, client::SharedRegion::Create(client, 4 << 20));
  for (const std::int64_t tokens : {0, 1, 3, 128, 4096}) {  // up to 1.5 MiB
    for (const auto type : {client::DataType::kFloat32, client::DataType::kFloat16, client::DataType::kBfloat16}) {
      for (const std::int64_t offset : {0, 64, 4096 * 3 + 128}) {
        SCOPED_TRACE(absl::StrCat(tokens, " tokens, ", client::DataTypeName(type), ", offset ", offset));
        client::EmbedRequest request = tokens > 0 ? Request(1, tokens) : Request(0, 1);
        request.output_type = type;
        ASSERT_OK_AND_ASSIGN(const client::Embedding plain, client.Embed(request));
        const auto size = static_cast<std::int64_t>(plain.bytes().size());
        Poison(region);

        request.output_target = region.Target(offset);
        ASSERT_OK_AND_ASSIGN(const client::EmbedInfo info, client.EmbedToRegion(request));

        EXPECT_EQ(info.written, (client::SharedMemoryTarget{region.name(), offset, size}));
        EXPECT_EQ(info.shape, plain.shape());
        EXPECT_EQ(info.data_type, type);
        EXPECT_EQ(info.checksum, plain.info().checksum);
        const auto begin = static_cast<std::size_t>(offset);
        const auto end = begin + static_cast<std::size_t>(size);
        EXPECT_EQ(Copy(region.bytes().subspan(begin, end - begin)), Copy(plain.bytes()));
        EXPECT_TRUE(std::all_of(region.bytes().begin(), region.bytes().begin() + offset,
                                [](std::byte byte) { return byte == kPoison; }));
        EXPECT_THAT(std::span(region.bytes()).subspan(end, 4096), Each(kPoison));
      }
    }
  }
}

TEST_F(SharedMemory, ResultMayEndExactlyWithTheRegion) {
  const testing::ServedModels served(Config());
  const client::Client client = served.UnixClient();
  client::EmbedRequest request = Request(2, 2);
  ASSERT_OK_AND_ASSIGN(const client::Embedding plain, client.Embed(request));
  const std::size_t size = plain.bytes().size();
  ASSERT_OK_AND_ASSIGN(const client::SharedRegion region, client::SharedRegion::Create(client, 640 + size));

  request.output_target = {.region = region.name(), .offset = 640, .byte_size = static_cast<std::int64_t>(size)};
  ASSERT_THAT(client.EmbedToRegion(request), IsOk());

  EXPECT_EQ(Copy(region.bytes().subspan(640)), Copy(plain.bytes()));
}

TEST_F(SharedMemory, TakesTheResultsOfAStreamInTheirOrder) {
  const testing::ServedModels served(Config());
  const client::Client client = served.UnixClient();
  ASSERT_OK_AND_ASSIGN(const client::SharedRegion region, client::SharedRegion::Create(client, 8 << 20));
  ASSERT_OK_AND_ASSIGN(auto stream, client.OpenStream());
  constexpr std::int64_t kTokens[] = {1, 4000, 2};
  constexpr std::int64_t kStep = 2 << 20;
  for (std::int64_t i = 0; i < 3; ++i) {
    client::EmbedRequest request = Request(1, kTokens[i]);
    request.output_target = region.Target(i * kStep);
    ASSERT_THAT(stream.Send(request, absl::StrCat("r", i)), IsOk());
  }
  client::EmbedRequest outside = Request(1, 1);
  outside.output_target = client::SharedMemoryTarget{.region = region.name(), .offset = 8 << 20, .byte_size = kDim * 4};
  ASSERT_THAT(stream.Send(outside), IsOk());
  ASSERT_THAT(stream.Send(Request(1, 1)), IsOk());

  for (std::int64_t i = 0; i < 3; ++i) {
    ASSERT_OK_AND_ASSIGN(auto item, stream.Receive());
    ASSERT_TRUE(item.has_value());
    EXPECT_EQ(item->request_id, absl::StrCat("r", i));
    ASSERT_THAT(item->result, IsOk());
    EXPECT_THAT(item->result->bytes(), IsEmpty());
    const std::int64_t size = kTokens[i] * kDim * 4;
    EXPECT_EQ(item->result->info().written, (client::SharedMemoryTarget{region.name(), i * kStep, size}));
    ASSERT_OK_AND_ASSIGN(const client::Embedding plain, client.Embed(Request(1, kTokens[i])));
    EXPECT_EQ(Copy(region.bytes().subspan(static_cast<std::size_t>(i * kStep), static_cast<std::size_t>(size))),
              Copy(plain.bytes()));
  }
  ASSERT_OK_AND_ASSIGN(auto refused, stream.Receive());
  ASSERT_TRUE(refused.has_value());
  EXPECT_THAT(refused->result,
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("goes past the end of region")),
                    ReasonIs("INVALID_OPTION")));
  ASSERT_OK_AND_ASSIGN(auto plain, stream.Receive());
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->result->bytes().size(), kDim * 4u);
}

TEST_F(SharedMemory, RefusedRequestWritesNothing) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kSize = 4 * kDim * 4;
  const testing::ServedModels served(Config());
  const client::Client client = served.UnixClient();
  ASSERT_OK_AND_ASSIGN(const client::SharedRegion region, client::SharedRegion::Create(client, 1 << 20));
  Poison(region);
  const struct {
    std::int64_t offset, byte_size;
    const char* message;
  } cases[] = {
      {-64, kSize, "offset must be at least 0 and a multiple of 64, got -64"},
      {std::numeric_limits<std::int64_t>::min(), kSize, "offset must be at least 0"},
      {32, kSize, "offset must be at least 0 and a multiple of 64, got 32"},
      {0, kSize - 1, "byte_size is 1535, but the result has 1536 bytes"},
      {0, -1, "byte_size is -1, but"},
      {0, (1 << 20) + 1, "byte_size 1048577 from offset 0 on goes past the end of region"},
      {(1 << 20) - 1024, kSize, "byte_size 1536 from offset 1047552 on goes past"},
      {1 << 20, kSize, "goes past the end of region"},
      {kMax / 64 * 64, kSize, "goes past the end of region"},
      {64, kMax, "goes past the end of region"},
      {kMax / 64 * 64, kMax, "which has 1048576 bytes"},
  };
  for (const auto& each : cases) {
    client::EmbedRequest request = Request(2, 2);
    request.output_target =
        client::SharedMemoryTarget{.region = region.name(), .offset = each.offset, .byte_size = each.byte_size};

    EXPECT_THAT(
        client.EmbedToRegion(request),
        AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(each.message)), ReasonIs("INVALID_OPTION")));
  }
  client::EmbedRequest bad_id = Request(2, 2);
  bad_id.ids[3] = 10;
  bad_id.output_target = region.Target();
  EXPECT_THAT(client.EmbedToRegion(bad_id), ReasonIs("ID_OUT_OF_RANGE"));

  EXPECT_TRUE(std::all_of(region.bytes().begin(), region.bytes().end(), [](std::byte b) { return b == kPoison; }));
}

TEST_F(SharedMemory, LimitOfTheReplyHoldsForTheResult) {
  config::ServerConfig config = Config();
  config.limits.max_response_bytes = 1000;
  const testing::ServedModels served(config);
  const client::Client client = served.UnixClient();
  ASSERT_OK_AND_ASSIGN(const client::SharedRegion region, client::SharedRegion::Create(client, 1 << 20));
  client::EmbedRequest request = Request(2, 2);
  request.output_target = region.Target();

  EXPECT_THAT(client.EmbedToRegion(request), ReasonIs("RESPONSE_TOO_LARGE"));
}

TEST_F(SharedMemory, IsForLocalCallersOnly) {
  const testing::ServedModels served(Config());
  const client::Client tcp = served.TcpClient();
  const client::Region file = MakeFile("file", 4096);
  ASSERT_THAT(served.UnixClient().RegisterRegion(file), IsOk());
  client::EmbedRequest request = Request(1, 1);
  request.output_target = client::SharedMemoryTarget{.region = "file", .offset = 0, .byte_size = 4096};
  const auto refused = [] {
    return AllOf(StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("call through its Unix socket")),
                 ReasonIs("NOT_LOCAL"));
  };

  EXPECT_THAT(tcp.RegisterRegion(MakeFile("other", 4096)), refused());
  EXPECT_THAT(tcp.UnregisterRegion("file"), refused());
  EXPECT_THAT(tcp.ListRegions(), refused());
  EXPECT_THAT(tcp.EmbedToRegion(request), refused());
  auto stream = tcp.OpenStream();
  ASSERT_THAT(stream->Send(request), IsOk());
  EXPECT_THAT((*stream->Receive())->result, refused());
  EXPECT_THAT(served.InProcessClient().EmbedToRegion(request), refused());
}

TEST_F(SharedMemory, IsOffUnlessConfigured) {
  config::ServerConfig config = Config();
  config.shared_memory.reset();
  const testing::ServedModels served(config);
  const client::Client client = served.UnixClient();
  client::EmbedRequest request = Request(1, 1);
  request.output_target = client::SharedMemoryTarget{.region = "r", .offset = 0, .byte_size = 4096};
  const auto refused = [] {
    return AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("server.shared_memory.prefix")),
                 ReasonIs("REGIONS_OFF"));
  };

  EXPECT_THAT(client.RegisterRegion(MakeFile("r", 4096)), refused());
  EXPECT_THAT(client.UnregisterRegion("r"), refused());
  EXPECT_THAT(client.ListRegions(), refused());
  EXPECT_THAT(client.EmbedToRegion(request), refused());
  EXPECT_THAT(client::SharedRegion::Create(client, 4096), ReasonIs("REGIONS_OFF"));
  ASSERT_OK_AND_ASSIGN(const client::ServerInfo info, client.GetServerInfo());
  EXPECT_EQ(info.shared_memory_prefix, "");
}

TEST_F(SharedMemory, RegionIsListedWithoutLeavingAFileAndGoesWithItsOwner) {
  const testing::ServedModels served(Config());
  const client::Client client = served.UnixClient();
  {
    ASSERT_OK_AND_ASSIGN(const client::SharedRegion region, client::SharedRegion::Create(client, 5000));

    ASSERT_OK_AND_ASSIGN(const auto regions, client.ListRegions());
    ASSERT_EQ(regions.size(), 1u);
    EXPECT_EQ(regions[0].name, region.name());
    EXPECT_THAT(regions[0].path, StartsWith(prefix()));
    EXPECT_EQ(regions[0].byte_size, 5000);
    EXPECT_FALSE(std::filesystem::exists(regions[0].path));
    EXPECT_EQ(client.GetServerInfo()->shared_memory_prefix, prefix());
  }

  ASSERT_OK_AND_ASSIGN(const auto regions, client.ListRegions());
  EXPECT_THAT(regions, IsEmpty());
}

TEST_F(SharedMemory, UnknownRegionIsAnsweredWithTheNamesThereAre) {
  const testing::ServedModels served(Config());
  const client::Client client = served.UnixClient();
  ASSERT_THAT(client.RegisterRegion(MakeFile("one", 4096)), IsOk());
  ASSERT_THAT(client.RegisterRegion(MakeFile("two", 4096)), IsOk());
  client::EmbedRequest request = Request(1, 1);
  request.output_target = client::SharedMemoryTarget{.region = "three", .offset = 0, .byte_size = 4096};
  const auto refused =
      AllOf(StatusIs(absl::StatusCode::kNotFound, "there is no region \"three\"; there are \"one\", \"two\""),
            ReasonIs("REGION_NOT_FOUND"));

  EXPECT_THAT(client.EmbedToRegion(request), refused);
  EXPECT_THAT(client.UnregisterRegion("three"), refused);
}

TEST_F(SharedMemory, FileCutShortFailsItsCallsAndNoOthers) {
  const testing::ServedModels served(Config());
  const client::Client client = served.UnixClient();
  const client::Region file = MakeFile("file", 1 << 20);
  ASSERT_THAT(client.RegisterRegion(file), IsOk());
  client::EmbedRequest request = Request(1, 1000);
  request.output_target = client::SharedMemoryTarget{.region = "file", .offset = 0, .byte_size = 1 << 20};
  ASSERT_THAT(client.EmbedToRegion(request), IsOk());
  std::filesystem::resize_file(file.path, 100);

  EXPECT_THAT(client.EmbedToRegion(request), AllOf(StatusIs(absl::StatusCode::kFailedPrecondition,
                                                            HasSubstr("the file of region \"file\" was cut short")),
                                                   ReasonIs("REGION_DAMAGED")));
  EXPECT_THAT(client.Embed(Request(1, 1000)), IsOk());
  EXPECT_THAT(client.UnregisterRegion("file"), IsOk());
}

// The owner cuts the file and makes it long again as fast as it can, so that some call meets a lost page.
TEST_F(SharedMemory, FileCutShortDuringCallsDoesNotEndTheServer) {
  const testing::ServedModels served(Config());
  const client::Client client = served.UnixClient();
  const client::Region file = MakeFile("file", 2 << 20);
  ASSERT_THAT(client.RegisterRegion(file), IsOk());
  client::EmbedRequest request = Request(1, 4096);
  request.output_target = client::SharedMemoryTarget{.region = "file", .offset = 0, .byte_size = 2 << 20};
  std::atomic<bool> done = false;
  std::thread cutter([&] {
    while (!done) {
      std::filesystem::resize_file(file.path, 0);
      std::filesystem::resize_file(file.path, 2 << 20);
    }
  });

  absl::Status status;
  for (int i = 0; i < 10'000 && status.ok(); ++i) status = client.EmbedToRegion(request).status();
  done = true;
  cutter.join();

  EXPECT_THAT(status, ReasonIs("REGION_DAMAGED"));
  EXPECT_THAT(client.Embed(Request(1, 1)), IsOk());
}

TEST_F(SharedMemory, UnregisteringDuringCallsLetsThemEnd) {
  const testing::ServedModels served(Config());
  const client::Client client = served.UnixClient();
  const client::Region file = MakeFile("file", 2 << 20);
  client::EmbedRequest request = Request(1, 4096);
  request.output_target = client::SharedMemoryTarget{.region = "file", .offset = 0, .byte_size = 2 << 20};
  std::atomic<bool> done = false;
  std::thread owner([&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_THAT(client.RegisterRegion(file), IsOk());
      EXPECT_THAT(client.UnregisterRegion("file"), IsOk());
    }
    done = true;
  });

  while (!done) {
    const auto info = client.EmbedToRegion(request);
    if (!info.ok()) {
      EXPECT_THAT(info, ReasonIs("REGION_NOT_FOUND"));
    }
  }
  owner.join();

  EXPECT_THAT(*client.ListRegions(), IsEmpty());
}

TEST_F(SharedMemory, HealthOfItsServiceIsTold) {
  const testing::ServedModels served(Config());

  ASSERT_OK_AND_ASSIGN(const client::HealthStatus health, served.TcpClient().CheckHealth("embd.v1.AdminService"));

  EXPECT_EQ(health, client::HealthStatus::kServing);
}

TEST_F(SharedMemory, RequestWithoutATargetIsNotSent) {
  const testing::ServedModels served(Config());

  EXPECT_THAT(served.UnixClient().EmbedToRegion(Request(1, 1)),
              StatusIs(absl::StatusCode::kInvalidArgument, "the request has no output_target"));
}

TEST_F(SharedMemory, RegionThatTheServerRefusesLeavesNoFile) {
  const testing::ServedModels served(Config());

  EXPECT_THAT(client::SharedRegion::Create(served.UnixClient(), 65 << 20), ReasonIs("TOO_MANY_REGIONS"));

  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(prefix()).parent_path()));
}

TEST_F(SharedMemory, FileThatCannotBeMadeIsAnError) {
  const testing::ServedModels served(Config());

  EXPECT_THAT(client::SharedRegion::Create(served.UnixClient(), 4096, {.prefix = prefix() + "no/folder-"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot be made")));
  EXPECT_THAT(client::SharedRegion::Create(served.UnixClient(), 0),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not 0")));
}

}  // namespace
}  // namespace embd
