// The largest tensor that the limits allow, there and back; Triton's L0_large_payload.

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tests/integration/oip/oip_server.h"
#include "tests/integration/oip/wire_bytes.h"

namespace embd {
namespace {

using ::embd::testing::IdsRequest;
using ::embd::testing::InferRequest;
using ::embd::testing::InferResponse;
using ::embd::testing::IsOk;

constexpr std::int64_t kNeededMemory = std::int64_t{8} << 30;

// What programs may still take, in bytes; 0 where the system does not say it.
std::int64_t AvailableMemory() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  std::int64_t kib = 0;
  while (file >> key >> kib && std::getline(file, unit)) {
    if (key == "MemAvailable:") return kib << 10;
  }
  return 0;
}

class LargePayload : public testing::OipServer {
 protected:
  LargePayload() : OipServer(LargestLimits()) {}

  static config::ServerConfig LargestLimits() {
    config::ServerConfig config = Config();
    config.limits.max_request_bytes = config::kLargestMaxRequestBytes;
    config.limits.max_response_bytes = config::kLargestMaxResponseBytes;
    config.limits.max_bytes_in_flight = std::int64_t{2} << 30;
    return config;
  }

  // A request for `columns` floats up to, and without, the floats.
  static std::string Header(std::int64_t columns) {
    InferRequest request = testing::RequestFor("identity_fp32");
    testing::AddInput(&request, "INPUT0", "FP32", {1, columns});
    return request.SerializeAsString() + testing::Varint(7 << 3 | 2) +
           testing::Varint(static_cast<std::uint64_t>(columns) * sizeof(float));
  }

  absl::Status Send(const std::string& header, const std::vector<std::uint32_t>& elements,
                    std::vector<grpc::Slice>* reply) {
    const grpc::Slice slices[] = {
        grpc::Slice(header),
        grpc::Slice(elements.data(), elements.size() * sizeof(std::uint32_t), grpc::Slice::STATIC_SLICE)};
    return testing::CallRaw(channel(), testing::kModelInfer, grpc::ByteBuffer(slices, 2), reply);
  }
};

// Whether the slices end with the bytes; what stands before them goes into `header`.
bool EndsWith(const std::vector<grpc::Slice>& slices, const char* bytes, std::size_t size, std::string* header) {
  std::size_t total = 0;
  for (const grpc::Slice& slice : slices) total += slice.size();
  if (total < size) return false;
  const std::size_t header_size = total - size;
  std::size_t at = 0;
  for (const grpc::Slice& slice : slices) {
    const auto* const data = reinterpret_cast<const char*>(slice.begin());
    const std::size_t skipped = at < header_size ? std::min(header_size - at, slice.size()) : 0;
    header->append(data, skipped);
    const std::size_t rest = slice.size() - skipped;
    if (rest > 0 && std::memcmp(data + skipped, bytes + (at + skipped - header_size), rest) != 0) return false;
    at += slice.size();
  }
  return true;
}

TEST_F(LargePayload, LargestRequestComesBackEqualAndTheServerGoesOn) {
  if (AvailableMemory() < kNeededMemory) GTEST_SKIP() << "needs 8 GiB of free memory";
  const auto room = static_cast<std::int64_t>(config::kLargestMaxRequestBytes - Header(1 << 28).size());
  const std::int64_t columns = room / static_cast<std::int64_t>(sizeof(float));
  std::vector<std::uint32_t> elements(static_cast<std::size_t>(columns));
  std::uint32_t next = 1;
  for (std::uint32_t& element : elements) element = next *= 2654435769u;

  std::vector<grpc::Slice> reply;
  ASSERT_THAT(Send(Header(columns), elements, &reply), IsOk());

  std::string header;
  const std::size_t size = elements.size() * sizeof(float);
  ASSERT_TRUE(EndsWith(reply, reinterpret_cast<const char*>(elements.data()), size, &header));
  const std::string field = testing::Varint(6 << 3 | 2) + testing::Varint(size);
  ASSERT_GE(header.size(), field.size());
  EXPECT_EQ(header.substr(header.size() - field.size()), field);
  InferResponse described;
  ASSERT_TRUE(described.ParseFromString(header.substr(0, header.size() - field.size())));
  ASSERT_EQ(described.outputs_size(), 1);
  EXPECT_THAT(described.outputs(0).shape(), ::testing::ElementsAre(1, columns));
  EXPECT_THAT(Infer(IdsRequest()), IsOk()) << "the server lives";
}

TEST_F(LargePayload, RequestBeyondTheLimitIsRefusedWithItsSizeAndTheServerGoesOn) {
  if (AvailableMemory() < kNeededMemory) GTEST_SKIP() << "needs 8 GiB of free memory";
  const std::vector<std::uint32_t> elements(std::size_t{1} << 28);

  std::vector<grpc::Slice> reply;
  const auto status = Send(Header(std::int64_t{1} << 28), elements, &reply);

  EXPECT_THAT(status, ::testing::AllOf(testing::StatusIs(absl::StatusCode::kResourceExhausted,
                                                         ::testing::HasSubstr("exceeds max_request_bytes 1073741824")),
                                       testing::ReasonIs("REQUEST_TOO_LARGE")));
  EXPECT_THAT(Infer(IdsRequest()), IsOk()) << "the server lives";
}

}  // namespace
}  // namespace embd
