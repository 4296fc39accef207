#include "server/core/table/checksum.h"

#include <openssl/evp.h>

#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace embd::core {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  bool ok = context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::Update(std::span<const std::byte> piece) {
  state_->ok = state_->ok && EVP_DigestUpdate(state_->context, piece.data(), piece.size()) == 1;
}

std::string Sha256::Hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (!state_->ok || EVP_DigestFinal_ex(state_->context, digest.data(), &size) != 1) return "";
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest.data()), size));
}

std::string Sha256Hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Hex();
}

std::string TableChecksum(const Table& table) { return Sha256Hex(table.bytes()); }

}  // namespace embd::core
