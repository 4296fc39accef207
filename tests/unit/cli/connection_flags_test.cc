#include "client/cli/commands/connection_flags.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/unit/cli/command_runner.h"

namespace embd::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ConnectionFlagsTest : public ::testing::Test {
 protected:
  ~ConnectionFlagsTest() override {
    for (const std::string& name : set_) unsetenv(name.c_str());
  }

  void Set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }

  client::ClientOptions OptionsOf(const std::vector<std::string>& arguments) {
    runner_.Run(arguments);
    return runner_.options;
  }

  testing::CommandRunner runner_;
  std::vector<std::string> set_;
};

TEST_F(ConnectionFlagsTest, NothingIsEncryptedOrShownUnlessAskedFor) {
  const client::ClientOptions options = OptionsOf({"models"});

  EXPECT_FALSE(options.tls.has_value());
  EXPECT_EQ(options.token + options.token_file, "");
}

TEST_F(ConnectionFlagsTest, TlsAloneTrustsTheSystem) {
  const client::ClientOptions options = OptionsOf({"--tls", "models"});

  ASSERT_TRUE(options.tls.has_value());
  EXPECT_EQ(options.tls->root_certificates_file, "");
}

TEST_F(ConnectionFlagsTest, FlagsImplyTlsAndReachTheClient) {
  const client::ClientOptions options =
      OptionsOf({"models", "--tls-ca", "ca", "--tls-certificate", "certificate", "--tls-key", "key",
                 "--tls-server-name", "name", "--token-file", "token"});

  ASSERT_TRUE(options.tls.has_value());
  EXPECT_EQ(options.tls->root_certificates_file, "ca");
  EXPECT_EQ(options.tls->certificate_file, "certificate");
  EXPECT_EQ(options.tls->key_file, "key");
  EXPECT_EQ(options.tls->server_name, "name");
  EXPECT_EQ(options.token_file, "token");
}

TEST_F(ConnectionFlagsTest, VariablesStandInForFlags) {
  Set("EMBDCTL_TLS_CA", "ca");
  Set("EMBDCTL_TLS_CERTIFICATE", "certificate");
  Set("EMBDCTL_TLS_KEY", "key");
  Set("EMBDCTL_TLS_SERVER_NAME", "name");
  Set("EMBDCTL_TOKEN_FILE", "token");

  const client::ClientOptions options = OptionsOf({"models", "--tls-ca", "other"});

  ASSERT_TRUE(options.tls.has_value());
  EXPECT_EQ(options.tls->root_certificates_file, "other");
  EXPECT_EQ(options.tls->certificate_file, "certificate");
  EXPECT_EQ(options.tls->key_file, "key");
  EXPECT_EQ(options.tls->server_name, "name");
  EXPECT_EQ(options.token_file, "token");
}

TEST_F(ConnectionFlagsTest, TlsMayBeAVariable) {
  Set("EMBDCTL_TLS", "true");
  EXPECT_TRUE(OptionsOf({"models"}).tls.has_value());
  Set("EMBDCTL_TLS", "false");
  EXPECT_FALSE(OptionsOf({"models"}).tls.has_value());
}

TEST_F(ConnectionFlagsTest, FileOfATokenGoesBeforeTheVariableWithOne) {
  Set("EMBDCTL_TOKEN", "letters");

  EXPECT_EQ(OptionsOf({"models"}).token, "letters");
  const client::ClientOptions options = OptionsOf({"models", "--token-file", "token"});
  EXPECT_EQ(options.token, "");
  EXPECT_EQ(options.token_file, "token");
}

TEST_F(ConnectionFlagsTest, ConnectionsOfBenchAreMadeTheSameWay) {
  const client::ClientOptions options =
      OptionsOf({"bench", "tiny", "--duration", "0.01", "--tokens", "1", "--tls-ca", "ca", "--token-file", "token"});

  EXPECT_EQ(runner_.max_attempts, 1);
  ASSERT_TRUE(options.tls.has_value());
  EXPECT_EQ(options.tls->root_certificates_file, "ca");
  EXPECT_EQ(options.token_file, "token");
}

TEST_F(ConnectionFlagsTest, TokenIsNoFlagAndHelpDoesNotShowIt) {
  Set("EMBDCTL_TOKEN", "letters-of-a-token");

  const testing::Result help = runner_.Run({"--help"});

  EXPECT_THAT(help.out, AllOf(HasSubstr("EMBDCTL_TOKEN"), Not(HasSubstr("letters-of-a-token"))));
  EXPECT_EQ(runner_.Run({"models", "--token", "x"}).code, 2);
}

}  // namespace
}  // namespace embd::cli
