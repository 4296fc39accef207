// A program of someone else's: one function that uses a client, tried with the fake and with a server that is not
// there.
#include <iostream>
#include <memory>
#include <vector>

#include "embd/client/client.h"
#include "embd/client/error.h"
#include "embd/client/fake_transport.h"

namespace {

absl::StatusOr<float> SumOfRow(const embd::client::Client& client, std::int64_t id) {
  std::vector<float> row(3);
  const auto info = client.EmbedInto({.model = "tiny", .ids = {id}, .batch_size = 1, .sequence_length = 1}, row,
                                     {.timeout = absl::Seconds(5)});
  if (!info.ok()) return info.status();
  return row[0] + row[1] + row[2];
}

bool Check(bool holds, const char* what) {
  if (!holds) std::cerr << "failed: " << what << "\n";
  return holds;
}

}  // namespace

int main() {
  const auto fake = std::make_shared<embd::client::FakeTransport>();
  fake->AddModel({.name = "tiny", .embedding_dim = 3, .token = {1, 2, 3, 10, 20, 30}});
  const embd::client::Client client(fake);
  const auto sum = SumOfRow(client, 1);
  const auto refused = SumOfRow(client, 2);

  const auto nobody = embd::client::Client::Connect("unix:/nonexistent/embd.sock", {.max_attempts = 0});
  const auto unavailable = SumOfRow(nobody.value(), 1);

  const bool good = Check(sum.ok() && *sum == 60, "the row is summed") &&
                    Check(embd::client::ErrorReason(refused.status()) == "ID_OUT_OF_RANGE", "a bad id is refused") &&
                    Check(fake->embed_requests().size() == 2, "the fake has seen both") &&
                    Check(unavailable.status().code() == absl::StatusCode::kUnavailable, "nobody answers there");
  return good ? 0 : 1;
}
