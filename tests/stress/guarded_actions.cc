// A server with TLS and tokens, whose files are renewed.

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/stress/actor.h"
#include "tests/stress/life.h"

namespace embd::stress {
namespace {

client::ClientOptions Options(const Life& life) {
  return {
      .max_attempts = 1,
      .tls = client::TlsOptions{.root_certificates_file = life.certificates().root_file(), .server_name = "localhost"}};
}

void Ask(Life& life, Actor& actor, const client::Client& client, const std::vector<absl::string_view>& refusals) {
  const Case& batch = life.corpus().Any("normed", actor.random());
  actor.Expect(batch, client.Embed(batch.request), refusals);
}

// A new connection each time, and so a new handshake. Its token is read from a file that is written meanwhile.
Action::Step LastingToken(Life& life) {
  client::ClientOptions options = Options(life);
  options.token_file = life.certificates().client_token_file();
  return [&life, options](Actor& actor) {
    const auto client = client::Client::Connect(life.guarded().addresses()[0], options);
    ASSERT_TRUE(client.ok()) << client.status();
    for (int i = 0; i < 5; ++i) Ask(life, actor, *client, {});
  };
}

Action::Step PassingToken(Life& life) {
  client::ClientOptions options = Options(life);
  options.token = Certificates::PassingToken();
  const auto client = client::Client::Connect(life.guarded().addresses()[0], options);
  return [&life, client = client.value()](Actor& actor) { Ask(life, actor, client, {"UNAUTHENTICATED"}); };
}

// The watch finds some of it, and a reload the rest.
Action::Step Renew(Life& life) {
  return [&life](Actor& actor) {
    const Certificates& certificates = life.certificates();
    certificates.RenewCertificate(static_cast<int>(Below(actor.random(), 2)));
    certificates.RenewTokens(Below(actor.random(), 2) == 0);
    if (Below(actor.random(), 2) == 0) {
      const auto report = life.guarded().ReloadConfig();
      actor.Answered(report.status());
    }
    actor.Pause(50'000);
  };
}

}  // namespace

std::vector<Action> GuardedActions() {
  return {{"TLS and a token that lasts", 1, LastingToken},
          {"TLS and a token that passes", 1, PassingToken},
          {"renewed certificates and tokens", 1, Renew}};
}

}  // namespace embd::stress
