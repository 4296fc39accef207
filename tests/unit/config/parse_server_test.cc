#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/config/load.h"
#include "tests/support/status_matchers.h"

namespace embd::config {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

auto Parse(absl::string_view text) { return ParseYaml(text, "embd.yaml"); }
auto ParseLimits(absl::string_view limits) { return Parse(absl::StrCat("server: { limits: { ", limits, " } }")); }

TEST(ServerSettings, EmptyFileLeavesTheBase) {
  ServerConfig base;
  base.ready_file = "ready";
  base.models = DemoModels();

  ASSERT_OK_AND_ASSIGN(const ServerConfig config, ParseYaml("# nothing\n", "embd.yaml", base));

  EXPECT_EQ(config, base);
}

TEST(ServerSettings, AllCanBeGiven) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config, Parse(R"(
server:
  listen: [127.0.0.1:0, "[::1]:9", unix:e.sock]
  limits:
    max_request_bytes: 1MiB
    max_response_bytes: 2MB
    max_batch_size: 3
    max_sequence_length: 4
    max_bytes_in_flight: 5GiB
    max_request_bytes_in_flight: 6GiB
    max_concurrent_calls: 8
    max_concurrent_streams: 9
    max_stall: 10s
  connections:
    keepalive_time: 11s
    keepalive_timeout: 12s
    min_ping_interval: 0
    handshake_timeout: 13s
    max_idle: 14m
    max_age: 15h
    max_age_grace: 16s
  tls: { certificate: c.pem, key: /k.pem, client_ca: ca.pem, min_version: "1.3" }
  tokens: tokens
  insecure: true
  metrics: { listen: [127.0.0.1:0, "[::1]:9"] }
  shared_memory: { prefix: /dev/shm/embd-, max_regions: 6, max_bytes: 7MiB }
  model_control: explicit
  inference: { name: triton, output_datatype: BF16 }
  drain_delay: 250ms
  drain_timeout: 500ms
  ready_file: ready.json
  log: { level: off, format: json, access_sample: 0.25 }
)"));

  ServerConfig expected;
  expected.listen = {"127.0.0.1:0", "[::1]:9", "unix:e.sock"};
  expected.limits = {.max_request_bytes = 1 << 20,
                     .max_response_bytes = 2'000'000,
                     .max_batch_size = 3,
                     .max_sequence_length = 4,
                     .max_bytes_in_flight = std::int64_t{5} << 30,
                     .max_request_bytes_in_flight = std::int64_t{6} << 30,
                     .max_concurrent_calls = 8,
                     .max_concurrent_streams = 9,
                     .max_stall_seconds = 10};
  expected.connections = {.keepalive_time = 11,
                          .keepalive_timeout = 12,
                          .min_ping_interval = 0,
                          .handshake_timeout = 13,
                          .max_idle = 14 * 60,
                          .max_age = 15 * 3600,
                          .max_age_grace = 16};
  expected.tls = Tls{.certificate = "c.pem", .key = "/k.pem", .client_ca = "ca.pem", .min_version = TlsVersion::kTls13};
  expected.tokens = "tokens";
  expected.insecure = true;
  expected.metrics_listen = {"127.0.0.1:0", "[::1]:9"};
  expected.shared_memory = SharedMemory{.prefix = "/dev/shm/embd-", .max_regions = 6, .max_bytes = 7 << 20};
  expected.explicit_model_control = true;
  expected.inference = {.name = "triton", .output_type = OutputType::kBFloat16};
  expected.drain_delay_seconds = 0.25;
  expected.drain_seconds = 0.5;
  expected.ready_file = "ready.json";
  expected.log = {.level = "off", .format = LogFormat::kJson, .access_sample = 0.25};
  EXPECT_EQ(config, expected);
}

TEST(ServerSettings, WhatIsNotGivenStaysAsInTheBase) {
  ServerConfig base;
  base.limits.max_batch_size = 7;

  ASSERT_OK_AND_ASSIGN(const ServerConfig config,
                       ParseYaml("server: { limits: { max_sequence_length: 9 } }", "embd.yaml", base));

  EXPECT_EQ(config.limits.max_batch_size, 7);
  EXPECT_EQ(config.limits.max_sequence_length, 9);
}

TEST(ServerSettings, CertificatesAndTokensAreRelativeToTheFile) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config,
                       ParseYaml("server: { tls: { certificate: c, key: k }, tokens: t }", "/etc/embd/embd.yaml"));

  EXPECT_EQ(config.tls, (Tls{.certificate = "/etc/embd/c", .key = "/etc/embd/k"}));
  EXPECT_EQ(config.tokens, "/etc/embd/t");
}

TEST(ServerSettings, TlsNeedsBothCertificateAndKey) {
  EXPECT_THAT(Parse("server: { tls: { certificate: c } }"),
              StatusIs(kInvalid, HasSubstr("server.tls: key is missing")));
  EXPECT_THAT(Parse("server: { tls: { key: k } }"),
              StatusIs(kInvalid, HasSubstr("server.tls: certificate is missing")));
}

TEST(ServerSettings, DurationsOfConnectionsHaveRanges) {
  EXPECT_THAT(Parse("server: { connections: { keepalive_time: 500ms } }"),
              StatusIs(kInvalid, HasSubstr("must be a duration from 1 to 86400 seconds")));
  EXPECT_THAT(Parse("server: { connections: { max_age_grace: 1s } }"), StatusIs(kInvalid, HasSubstr("needs max_age")));
}

TEST(ServerSettings, MetricsCanBeOff) {
  ServerConfig base;
  base.metrics_listen = {"127.0.0.1:8002"};
  ASSERT_OK_AND_ASSIGN(const ServerConfig config,
                       ParseYaml("server: { metrics: { listen: none } }", "embd.yaml", base));
  EXPECT_TRUE(config.metrics_listen.empty());
  EXPECT_THAT(Parse("server: { metrics: { listen: unix:s } }"),
              StatusIs(kInvalid, HasSubstr("must be none, or HOST:PORT")));
}

TEST(ServerSettings, JsonIsRead) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config,
                       Parse(R"({"server": {"listen": "127.0.0.1:1", "limits": {"max_request_bytes": "64KiB"}}})"));

  EXPECT_THAT(config.listen, ElementsAre("127.0.0.1:1"));
  EXPECT_EQ(config.limits.max_request_bytes, 64 << 10);
}

TEST(ServerSettings, DocumentThatIsNoMapIsRefused) {
  EXPECT_THAT(Parse("[a]"), StatusIs(kInvalid, "embd.yaml:1: must be a map, got a list"));
  EXPECT_THAT(Parse("\nword"), StatusIs(kInvalid, "embd.yaml:2: must be a map, got \"word\""));
}

TEST(ServerSettings, UnknownKeyNamesLinePathAndWhatIsAllowed) {
  const auto result = Parse("server:\n  log: {level: info}\n  lisen: 127.0.0.1:1\n");

  EXPECT_THAT(result, StatusIs(kInvalid,
                               "embd.yaml:3: server: unknown key \"lisen\"; did you mean listen? allowed: listen, "
                               "tls, tokens, insecure, limits, connections, metrics, shared_memory, model_control, "
                               "inference, drain_delay, drain_timeout, ready_file, log"));
  EXPECT_THAT(result, ReasonIs("INVALID_CONFIG"));
}

TEST(ServerSettings, UnknownKeyAtTheTopHasNoPath) {
  EXPECT_THAT(Parse("model: []"), StatusIs(kInvalid,
                                           "embd.yaml:1: unknown key \"model\"; did you mean models? allowed: "
                                           "server, models"));
}

TEST(ServerSettings, MergeKeyIsUnknown) {
  EXPECT_THAT(Parse("server: { <<: {} }"), StatusIs(kInvalid, HasSubstr("unknown key \"<<\"")));
}

TEST(ServerSettings, RepeatedKeyNamesBothLines) {
  EXPECT_THAT(Parse("server:\n  ready_file: a\n  drain_timeout: 1\n  ready_file: b\n"),
              StatusIs(kInvalid, "embd.yaml:4: server.ready_file: given twice, first on line 2"));
}

TEST(ServerSettings, EmptyValueIsRefusedOnTheLineOfItsKey) {
  EXPECT_THAT(Parse("server:\n  limits:\n\n  log: {level: info}\n"),
              StatusIs(kInvalid, "embd.yaml:2: server.limits: must be a map, got nothing"));
  EXPECT_THAT(Parse("server:\nmodels: []\n"), StatusIs(kInvalid, "embd.yaml:1: server: must be a map, got nothing"));
}

TEST(ServerSettings, WrongTypesAreNamed) {
  EXPECT_THAT(Parse("server: { ready_file: [a] }"),
              StatusIs(kInvalid, "embd.yaml:1: server.ready_file: must be a string, got a list"));
  EXPECT_THAT(Parse("server: { log: debug }"),
              StatusIs(kInvalid, "embd.yaml:1: server.log: must be a map, got \"debug\""));
  EXPECT_THAT(ParseLimits("max_batch_size: {}"),
              StatusIs(kInvalid, "embd.yaml:1: server.limits.max_batch_size: must be an integer >= 1, got a map"));
}

TEST(ServerSettings, EmptyStringAndNulAreRefused) {
  EXPECT_THAT(Parse("server: { ready_file: '' }"), StatusIs(kInvalid, HasSubstr("not empty")));
  EXPECT_THAT(Parse("server: { ready_file: \"a\\0b\" }"), StatusIs(kInvalid, HasSubstr("without NUL")));
}

TEST(Limits, EachIsAtLeastOne) {
  for (const char* limit :
       {"max_request_bytes", "max_response_bytes", "max_batch_size", "max_sequence_length", "max_bytes_in_flight"}) {
    EXPECT_THAT(ParseLimits(absl::StrCat(limit, ": 1")), testing::IsOk()) << limit;
    EXPECT_THAT(ParseLimits(absl::StrCat(limit, ": 0")),
                StatusIs(kInvalid, AllOf(StartsWith(absl::StrCat("embd.yaml:1: server.limits.", limit, ": ")),
                                         HasSubstr("got \"0\""))))
        << limit;
  }
}

TEST(Limits, MessageLimitsFitIn32Bits) {
  EXPECT_THAT(ParseLimits("max_request_bytes: 1GiB"), testing::IsOk());
  EXPECT_THAT(ParseLimits("max_request_bytes: 1073741825"), StatusIs(kInvalid, HasSubstr("from 1 to 1073741824")));
  EXPECT_THAT(ParseLimits("max_response_bytes: 2146435071"), testing::IsOk());
  EXPECT_THAT(ParseLimits("max_response_bytes: 2146435072"), StatusIs(kInvalid, HasSubstr("from 1 to 2146435071")));
}

TEST(Limits, ByteSizeThatOverflowsIsRefused) {
  EXPECT_THAT(ParseLimits("max_bytes_in_flight: 99999999999GiB"),
              StatusIs(kInvalid, AllOf(HasSubstr("must be a byte size"), HasSubstr("got \"99999999999GiB\""))));
}

TEST(Limits, QuotedIntegerIsRefused) {
  EXPECT_THAT(ParseLimits("max_batch_size: \"5\""),
              StatusIs(kInvalid, HasSubstr("must be an integer >= 1, got \"5\" in quotes")));
}

TEST(SharedMemorySetting, IsOffUnlessGivenAndHasDefaults) {
  EXPECT_EQ(Parse("server: {}")->shared_memory, std::nullopt);
  EXPECT_EQ(Parse("server: { shared_memory: { prefix: /dev/shm/ } }")->shared_memory,
            (SharedMemory{.prefix = "/dev/shm/", .max_regions = 64, .max_bytes = std::nullopt}));
}

TEST(SharedMemorySetting, NeedsAPrefix) {
  EXPECT_THAT(Parse("server: { shared_memory: {} }"),
              StatusIs(kInvalid, "embd.yaml:1: server.shared_memory: prefix is missing"));
  EXPECT_THAT(Parse("server: { shared_memory: { prefix: '' } }"), StatusIs(kInvalid, HasSubstr("not empty")));
}

TEST(SharedMemorySetting, PrefixIsAnAbsolutePathThatLeadsNowhereElse) {
  for (const char* prefix : {"/", "//", "dev/shm/embd-", "embd-", "/..", "/../", "/dev/../etc/", "/dev/shm/..",
                             "/dev/./shm/", "/dev//shm/", "/dev/shm//", "./dev"}) {
    EXPECT_THAT(Parse(absl::StrCat("server: { shared_memory: { prefix: ", prefix, " } }")),
                StatusIs(kInvalid, HasSubstr("server.shared_memory.prefix: must be an absolute path other than /")))
        << prefix;
  }
  for (const char* prefix : {"/embd-", "/dev/shm/embd-", "/dev/shm/", "/dev/shm/..embd", "/a/b/c/d"}) {
    EXPECT_TRUE(Parse(absl::StrCat("server: { shared_memory: { prefix: ", prefix, " } }")).ok()) << prefix;
  }
}

TEST(SharedMemorySetting, LimitsHaveRanges) {
  for (const char* limits : {"max_regions: 0", "max_regions: 257", "max_bytes: 0"}) {
    EXPECT_THAT(Parse(absl::StrCat("server: { shared_memory: { prefix: /dev/shm/e, ", limits, " } }")),
                StatusIs(kInvalid, HasSubstr("server.shared_memory.max_")))
        << limits;
  }
}

TEST(ModelControlSetting, IsNoneUnlessItIsExplicit) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig unset, Parse("server: { listen: a:1 }"));
  EXPECT_FALSE(unset.explicit_model_control);
  ServerConfig base;
  base.explicit_model_control = true;
  ASSERT_OK_AND_ASSIGN(const ServerConfig none, ParseYaml("server: { model_control: none }", "embd.yaml", base));
  EXPECT_FALSE(none.explicit_model_control);
}

TEST(ModelControlSetting, OtherWordsAreRefused) {
  EXPECT_THAT(Parse("server:\n  model_control: poll\n"),
              StatusIs(kInvalid, "embd.yaml:2: server.model_control: must be none or explicit, got \"poll\""));
  EXPECT_THAT(Parse("server: { model_control: true }"), StatusIs(kInvalid, HasSubstr("got \"true\"")));
  EXPECT_THAT(Parse("server: { model_control: [explicit] }"), StatusIs(kInvalid, HasSubstr("got a list")));
}

TEST(InferenceSetting, NameMayBeginWithAnyOfItsLetters) {
  for (const std::string& name : {std::string("triton"), std::string("-a"), std::string("._"), std::string(128, 'x')}) {
    ASSERT_OK_AND_ASSIGN(const ServerConfig config,
                         Parse(absl::StrCat("server: { inference: { name: '", name, "' } }")));
    EXPECT_EQ(config.inference.name, name);
    EXPECT_EQ(config.inference.output_type, OutputType::kFloat32);
  }
}

TEST(InferenceSetting, OtherNamesAreRefused) {
  EXPECT_THAT(Parse("server:\n  inference:\n    name: a b\n"),
              StatusIs(kInvalid,
                       "embd.yaml:3: server.inference.name: must be 1 to 128 letters, digits, '.', '_' or '-', got "
                       "\"a b\""));
  for (const std::string& name : {std::string(129, 'x'), std::string("a/b"), std::string("k\xc3\xb6nig")}) {
    EXPECT_THAT(Parse(absl::StrCat("server: { inference: { name: '", name, "' } }")),
                StatusIs(kInvalid, HasSubstr("server.inference.name: must be 1 to 128 letters")))
        << name;
  }
  EXPECT_THAT(Parse("server: { inference: { name: '' } }"), StatusIs(kInvalid, HasSubstr("not empty")));
}

TEST(InferenceSetting, OutputDatatypeIsOneOfThree) {
  for (const auto& [text, type] : {std::pair("FP32", OutputType::kFloat32), std::pair("FP16", OutputType::kFloat16),
                                   std::pair("BF16", OutputType::kBFloat16)}) {
    ASSERT_OK_AND_ASSIGN(const ServerConfig config,
                         Parse(absl::StrCat("server: { inference: { output_datatype: ", text, " } }")));
    EXPECT_EQ(config.inference.output_type, type) << text;
  }
  EXPECT_THAT(
      Parse("server:\n  inference:\n    output_datatype: FP64\n"),
      StatusIs(kInvalid, "embd.yaml:3: server.inference.output_datatype: must be FP32, FP16 or BF16, got \"FP64\""));
}

TEST(DrainTimeout, IsADurationOfAtMostADay) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config, Parse("server: { drain_timeout: 0 }"));
  EXPECT_EQ(config.drain_seconds, 0.0);
  EXPECT_THAT(Parse("server: { drain_timeout: 24h }"), testing::IsOk());
  for (const char* text : {"25h", "-1", "soon", ".nan"}) {
    EXPECT_THAT(Parse(absl::StrCat("server: { drain_timeout: ", text, " }")),
                StatusIs(kInvalid, HasSubstr("server.drain_timeout: must be a duration from 0 to 86400 seconds")))
        << text;
  }
}

TEST(DrainDelay, IsADurationOfAtMostADay) {
  EXPECT_EQ(Parse("server: { insecure: false }").value().drain_delay_seconds, 5.0);
  EXPECT_EQ(Parse("server: { drain_delay: 0s }").value().drain_delay_seconds, 0.0);
  EXPECT_THAT(Parse("server: { drain_delay: 25h }"),
              StatusIs(kInvalid, HasSubstr("server.drain_delay: must be a duration from 0 to 86400 seconds")));
}

TEST(Listen, MayBeOneString) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config, Parse("server: { listen: localhost:1 }"));
  EXPECT_THAT(config.listen, ElementsAre("localhost:1"));
}

TEST(Listen, BadAddressIsNamedByItsIndexAndLine) {
  EXPECT_THAT(Parse("server:\n  listen:\n    - 127.0.0.1:1\n    - 8001\n"),
              StatusIs(kInvalid,
                       "embd.yaml:4: server.listen[1]: must be HOST:PORT, [IPV6]:PORT or unix:PATH with a port "
                       "from 0 to 65535, got \"8001\""));
}

TEST(Listen, EmptyListAndMapAreRefused) {
  EXPECT_THAT(Parse("server: { listen: [] }"), StatusIs(kInvalid, HasSubstr("got an empty list")));
  EXPECT_THAT(Parse("server: { listen: {} }"), StatusIs(kInvalid, HasSubstr("got a map")));
  EXPECT_THAT(Parse("server: { listen: [[a:1]] }"),
              StatusIs(kInvalid, HasSubstr("server.listen[0]: must be a string")));
}

TEST(LogLevelSetting, UnknownLevelIsRefused) {
  EXPECT_THAT(Parse("server: { log: { level: loud } }"),
              StatusIs(kInvalid, HasSubstr("server.log.level: must be one of trace, debug, info, warn, error, off")));
}

}  // namespace
}  // namespace embd::config
