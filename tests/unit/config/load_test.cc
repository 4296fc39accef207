#include "server/config/load.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::config {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Environment Variables(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

std::vector<std::string> NamesOf(const ServerConfig& config) {
  std::vector<std::string> names;
  for (const ModelConfig& model : config.models) names.push_back(model.name);
  return names;
}

class LoadTest : public ::testing::Test {
 protected:
  LoadTest() {
    std::string name = absl::StrCat(::testing::TempDir(), "/embd_load_XXXXXX");
    folder_ = mkdtemp(name.data());
  }
  ~LoadTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& text) const {
    const std::string path = (folder_ / "embd.yaml").string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::filesystem::path folder_;
};

TEST_F(LoadTest, NothingGivenServesTheDemoModelsByDefaults) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config, Load({}, Variables({})));

  ServerConfig expected;
  expected.metrics_listen = {"127.0.0.1:8002"};
  expected.models = DemoModels();
  EXPECT_EQ(config, expected);
}

TEST_F(LoadTest, FileWeighsMoreThanDefaults) {
  Flags flags;
  flags.config =
      Write("server: { listen: unix:a, ready_file: f, log: { level: warn } }\nmodels: [{ name: m, path: t.npy }]");

  ASSERT_OK_AND_ASSIGN(const ServerConfig config, Load(flags, Variables({})));

  EXPECT_THAT(config.listen, ElementsAre("unix:a"));
  EXPECT_EQ(config.ready_file, "f");
  EXPECT_EQ(config.log.level, "warn");
  EXPECT_EQ(config.models.at(0).path, (folder_ / "t.npy").string());
}

TEST_F(LoadTest, VariablesWeighMoreThanTheFile) {
  const std::string file = Write("server: { listen: unix:a, ready_file: f, log: { level: warn } }");

  ASSERT_OK_AND_ASSIGN(const ServerConfig config, Load({}, Variables({{"EMBD_CONFIG", file},
                                                                      {"EMBD_LISTEN", "unix:b, unix:s"},
                                                                      {"EMBD_READY_FILE", "g"},
                                                                      {"EMBD_LOG_LEVEL", "error"}})));

  EXPECT_THAT(config.listen, ElementsAre("unix:b", "unix:s"));
  EXPECT_EQ(config.ready_file, "g");
  EXPECT_EQ(config.log.level, "error");
}

TEST_F(LoadTest, FlagsWeighMoreThanVariables) {
  Flags flags;
  flags.config = Write("server: { drain_timeout: 7 }");
  flags.listen = {"unix:c", "unix:d"};
  flags.ready_file = "h";
  flags.log_level = "debug";
  flags.models = {"f=x"};

  ASSERT_OK_AND_ASSIGN(const ServerConfig config, Load(flags, Variables({{"EMBD_CONFIG", "/no/such/file"},
                                                                         {"EMBD_LISTEN", "unix:b"},
                                                                         {"EMBD_READY_FILE", "g"},
                                                                         {"EMBD_LOG_LEVEL", "error"},
                                                                         {"EMBD_MODEL", "v=x"}})));

  EXPECT_EQ(config.drain_seconds, 7.0);
  EXPECT_THAT(config.listen, ElementsAre("unix:c", "unix:d"));
  EXPECT_EQ(config.ready_file, "h");
  EXPECT_EQ(config.log.level, "debug");
  EXPECT_THAT(NamesOf(config), ElementsAre("f"));
}

TEST_F(LoadTest, EmptyVariablesCountAsUnset) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config, Load({}, Variables({{"EMBD_CONFIG", ""},
                                                                      {"EMBD_MODEL", ""},
                                                                      {"EMBD_LISTEN", ""},
                                                                      {"EMBD_READY_FILE", ""},
                                                                      {"EMBD_LOG_LEVEL", ""}})));

  ServerConfig expected;
  expected.metrics_listen = {"127.0.0.1:8002"};
  expected.models = DemoModels();
  EXPECT_EQ(config, expected);
}

TEST_F(LoadTest, SecurityComesFromFlagsAndVariables) {
  Flags flags;
  flags.tls_certificate = "c.pem";
  flags.tokens = "t";

  ASSERT_OK_AND_ASSIGN(const ServerConfig config,
                       Load(flags, Variables({{"EMBD_TLS_KEY", "k.pem"}, {"EMBD_TLS_CLIENT_CA", "ca.pem"}})));

  EXPECT_EQ(config.tls, (Tls{.certificate = "c.pem", .key = "k.pem", .client_ca = "ca.pem"}));
  EXPECT_EQ(config.tokens, "t");
}

TEST_F(LoadTest, CertificateWithoutItsKeyIsRefused) {
  Flags flags;
  flags.tls_certificate = "c.pem";
  EXPECT_THAT(Load(flags, Variables({})), StatusIs(kInvalid, "--tls-key: TLS needs both a certificate and its key"));
}

TEST_F(LoadTest, EmptyFlagsOfSecurityAreRefusedRatherThanOpeningTheServer) {
  for (std::optional<std::string> Flags::*flag :
       {&Flags::tls_certificate, &Flags::tls_key, &Flags::tls_client_ca, &Flags::tokens}) {
    Flags flags;
    flags.config = Write("server: { tls: { certificate: c, key: k, client_ca: a }, tokens: t }");
    flags.*flag = "";
    EXPECT_THAT(Load(flags, Variables({})), StatusIs(kInvalid, HasSubstr("must be a file, got \"\"")));
  }
}

TEST_F(LoadTest, OtherMachinesAreNotServedWithoutEncryptionUnlessThatIsSaid) {
  for (const char* const address : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "example.com:1"}) {
    Flags flags;
    flags.listen = {"127.0.0.1:1", address};
    EXPECT_THAT(Load(flags, Variables({})),
                StatusIs(kInvalid, AllOf(HasSubstr(address), HasSubstr("server.insecure: true"))));
    flags.insecure = true;
    EXPECT_THAT(Load(flags, Variables({})), ::embd::testing::IsOk());
  }
}

TEST_F(LoadTest, ThisMachineIsServedWithoutEncryption) {
  for (const char* const address : {"127.0.0.1:1", "127.9.0.1:1", "[::1]:1", "localhost:1", "unix:s"}) {
    Flags flags;
    flags.listen = {address};
    EXPECT_THAT(Load(flags, Variables({})), ::embd::testing::IsOk());
  }
}

TEST_F(LoadTest, MetricsAreNotServedWhereNoneIsSaid) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config, Load({}, Variables({{"EMBD_METRICS_LISTEN", "none"}})));
  EXPECT_TRUE(config.metrics_listen.empty());
}

TEST_F(LoadTest, EmptyReadyFileFlagMeansNone) {
  Flags flags;
  flags.ready_file = "";

  ASSERT_OK_AND_ASSIGN(const ServerConfig config, Load(flags, Variables({{"EMBD_READY_FILE", "g"}})));

  EXPECT_EQ(config.ready_file, "");
}

TEST_F(LoadTest, ModelsOfFlagsJoinThoseOfTheFileWithPathsAsGiven) {
  Flags flags;
  flags.config = Write("models: [{ name: a, path: /a }]");
  flags.models = {"b=rel/b.npy", "c=/c=d"};

  ASSERT_OK_AND_ASSIGN(const ServerConfig config, Load(flags, Variables({})));

  EXPECT_THAT(NamesOf(config), ElementsAre("a", "b", "c"));
  EXPECT_EQ(config.models[1].path, "rel/b.npy");
  EXPECT_EQ(config.models[2].path, "/c=d");
}

TEST_F(LoadTest, ModelsOfTheVariableAreSplitOnCommas) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config, Load({}, Variables({{"EMBD_MODEL", "a=x, b=y"}})));

  EXPECT_THAT(NamesOf(config), ElementsAre("a", "b"));
}

TEST_F(LoadTest, ModelFlagThatIsNoNameAndPathIsRefused) {
  for (const char* text : {"", "a", "=x", "a=", "a/b=x", "grpc.a=x"}) {
    Flags flags;
    flags.models = {text};
    EXPECT_THAT(Load(flags, Variables({})),
                AllOf(StatusIs(kInvalid, StartsWith("--model: ")), ReasonIs("INVALID_CONFIG")))
        << text;
  }
}

TEST_F(LoadTest, NameTwiceIsRefused) {
  Flags flags;
  flags.config = Write("models: [{ name: a, path: /a }]");
  flags.models = {"a=x"};
  EXPECT_THAT(Load(flags, Variables({})),
              StatusIs(kInvalid,
                       "--model: the name must not be used twice, got \"a\", which is there "
                       "already"));
  flags = {};
  flags.models = {"a=x", "a=y"};
  EXPECT_THAT(Load(flags, Variables({})), StatusIs(kInvalid, HasSubstr("twice")));
}

TEST_F(LoadTest, BadValuesNameTheirFlagOrVariable) {
  Flags flags;
  flags.listen = {"8001"};
  EXPECT_THAT(Load(flags, Variables({})), StatusIs(kInvalid, StartsWith("--listen: must be HOST:PORT")));
  EXPECT_THAT(Load({}, Variables({{"EMBD_LISTEN", "unix:a,"}})),
              StatusIs(kInvalid, StartsWith("EMBD_LISTEN: must be HOST")));
  EXPECT_THAT(Load({}, Variables({{"EMBD_LOG_LEVEL", "x"}})),
              StatusIs(kInvalid, StartsWith("EMBD_LOG_LEVEL: must be one")));
  EXPECT_THAT(Load({}, Variables({{"EMBD_MODEL", "x"}})),
              StatusIs(kInvalid, "EMBD_MODEL: must be NAME=PATH, got \"x\""));
  flags = {};
  flags.config = "";
  EXPECT_THAT(Load(flags, Variables({})), StatusIs(kInvalid, StartsWith("--config: ")));
}

TEST_F(LoadTest, FileThatIsNotThereIsNotFound) {
  Flags flags;
  flags.config = (folder_ / "none.yaml").string();

  const auto result = Load(flags, Variables({}));

  EXPECT_THAT(result,
              StatusIs(absl::StatusCode::kNotFound, *flags.config + ": cannot be read: No such file or directory"));
  EXPECT_THAT(result, ReasonIs("INVALID_CONFIG"));
}

TEST_F(LoadTest, FolderInPlaceOfAFileIsNotFound) {
  Flags flags;
  flags.config = folder_.string();

  EXPECT_THAT(Load(flags, Variables({})), StatusIs(absl::StatusCode::kNotFound, HasSubstr("Is a directory")));
}

TEST_F(LoadTest, EndlessFileIsRefused) {
  Flags flags;
  flags.config = "/dev/zero";

  EXPECT_THAT(Load(flags, Variables({})), StatusIs(kInvalid, "/dev/zero: must be at most 16 MiB"));
}

TEST_F(LoadTest, MistakeInTheFileKeepsItsLine) {
  Flags flags;
  flags.config = Write("server:\n  port: 1\n");

  EXPECT_THAT(Load(flags, Variables({})),
              StatusIs(kInvalid, StartsWith(*flags.config + ":2: server: unknown key \"port\"")));
}

TEST(DemoModels, AreTheLessonsSizeAndOneOfEachEncoding) {
  const auto models = DemoModels();

  EXPECT_THAT(models,
              ElementsAre(Field(&ModelConfig::name, "demo-learned"), Field(&ModelConfig::name, "demo-sinusoidal"),
                          Field(&ModelConfig::name, "demo-rotary")));
  const SeededRows rows = {.mean = 0.0, .std = 0.02, .seed = 11};
  for (const ModelConfig& model : models) {
    EXPECT_EQ(std::get<SeededTokens>(model.token),
              (SeededTokens{.vocab_size = 320, .embedding_dim = 64, .rows = rows}));
  }
  EXPECT_EQ(std::get<LearnedPositions>(*models[0].position),
            (LearnedPositions{SeededPositions{.max_context_length = 128, .rows = rows}}));
  EXPECT_EQ(std::get<SinusoidalPositions>(*models[1].position), (SinusoidalPositions{.max_context_length = 128}));
  EXPECT_EQ(std::get<RotaryPositions>(*models[2].position), RotaryPositions{});
}

}  // namespace
}  // namespace embd::config
