#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "embd/client/client.h"
#include "gmock/gmock.h"
#include "tests/support/scripted_server.h"
#include "tests/support/status_matchers.h"

namespace embd::client {
namespace {

using ::embd::testing::ScriptedServer;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Keeps the metadata `authorization` of the calls that come.
class Listener {
 public:
  grpc::Status Hear(const grpc::ServerContext& context) {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = context.client_metadata().equal_range("authorization");
    for (auto each = first; each != last; ++each) heard_.emplace_back(each->second.data(), each->second.size());
    return {grpc::StatusCode::FAILED_PRECONDITION, "heard"};
  }
  std::vector<std::string> heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> heard_;
};

TEST(ConnectionOptions, TokenGoesWithCallsOfEveryKind) {
  Listener listener;
  ScriptedServer server(
      {.embed = [&](grpc::ServerContext* context, const auto&, auto*) { return listener.Hear(*context); },
       .embed_stream = [&](grpc::ServerContext* context, auto*) { return listener.Hear(*context); },
       .embed_chunks = [&](grpc::ServerContext* context, const auto&, auto*) { return listener.Hear(*context); },
       .list_models = [&](grpc::ServerContext* context, const auto&, auto*) { return listener.Hear(*context); }});
  const Client client = Client::Connect(server.address(), {.token = "letters"}).value();
  const EmbedRequest request = {.model = "m", .ids = {0}, .batch_size = 1, .sequence_length = 1};

  client.Embed(request, {.chunks = Chunks::kNever}).status().IgnoreError();
  client.Embed(request, {.chunks = Chunks::kAlways}).status().IgnoreError();
  client.EmbedAsync(request).get().status().IgnoreError();
  client.ListModels().status().IgnoreError();
  auto stream = client.OpenStream();
  if (stream.ok()) stream->Receive().status().IgnoreError();

  EXPECT_THAT(listener.heard(), AllOf(SizeIs(5), Each(std::string("Bearer letters"))));
}

class TlsFiles : public ::testing::Test {
 protected:
  TlsFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "embd-tls-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::ofstream(folder_ / "no.pem") << "no PEM";
    no_pem_ = folder_ / "no.pem";
  }
  ~TlsFiles() override { std::filesystem::remove_all(folder_); }

  static absl::Status Connect(const TlsOptions& tls, const std::string& address = "localhost:1") {
    return Client::Connect(address, {.tls = tls}).status();
  }

  std::filesystem::path folder_;
  std::string no_pem_;
};

TEST_F(TlsFiles, FileThatCannotBeReadIsNamed) {
  EXPECT_THAT(
      Connect({.root_certificates_file = "/none.pem"}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("tls.root_certificates_file \"/none.pem\" cannot be read"), HasSubstr("No such file"))));
  EXPECT_THAT(Connect({.root_certificates_file = folder_}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is no file")));
}

TEST_F(TlsFiles, FileThatIsNoPemIsNamed) {
  EXPECT_THAT(Connect({.root_certificates_file = no_pem_}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr(no_pem_), HasSubstr("holds no certificate in PEM"))));
}

TEST_F(TlsFiles, CertificateAndKeyGoTogether) {
  for (const TlsOptions& half : {TlsOptions{.certificate_file = no_pem_}, TlsOptions{.key_file = no_pem_}}) {
    EXPECT_THAT(Connect(half), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("go together")));
  }
}

TEST_F(TlsFiles, UnixSocketsAreNotEncrypted) {
  EXPECT_THAT(Connect({}, "unix:/tmp/s"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("TCP")));
}

}  // namespace
}  // namespace embd::client
