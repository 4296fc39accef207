#include "tests/stress/certificates.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace embd::stress {
namespace {

constexpr char kLastingToken[] = "lasting-token-0123456789";

void Replace(const std::string& path, const std::string& text) {
  const std::string next = path + ".next";
  std::ofstream(next) << text;
  std::filesystem::permissions(next, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::rename(next, path);
}

void CopyOver(const std::string& from, const std::string& to) {
  std::filesystem::copy_file(from, to + ".next", std::filesystem::copy_options::overwrite_existing);
  std::filesystem::rename(to + ".next", to);
}

}  // namespace

Certificates::Certificates(std::string folder) : folder_(std::move(folder)) {
  std::filesystem::create_directory(folder_);
  for (const int which : {0, 1}) {
    const std::string command =
        absl::StrCat("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=", which,
                     " -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout ", folder_, "/", which, ".key -out ",
                     folder_, "/", which, ".crt 2>/dev/null");
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
  std::ofstream(root_file()) << std::ifstream(folder_ + "/0.crt").rdbuf() << std::ifstream(folder_ + "/1.crt").rdbuf();
  RenewCertificate(0);
  RenewTokens(true);
}

config::Tls Certificates::tls() const {
  return {.certificate = folder_ + "/server.crt", .key = folder_ + "/server.key"};
}

void Certificates::RenewCertificate(int which) const {
  CopyOver(absl::StrCat(folder_, "/", which, ".crt"), tls().certificate);
  CopyOver(absl::StrCat(folder_, "/", which, ".key"), tls().key);
}

void Certificates::RenewTokens(bool passing) const {
  Replace(tokens_file(), absl::StrCat("admin lasting ", kLastingToken, "\n",
                                      passing ? absl::StrCat("read passing ", PassingToken(), "\n") : ""));
  Replace(client_token_file(), absl::StrCat(kLastingToken, "\n"));
}

}  // namespace embd::stress
