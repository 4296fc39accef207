#include "server/app/ready_file.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::app {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;

class ReadyFile : public ::testing::Test {
 protected:
  ReadyFile() {
    std::string name = (std::filesystem::temp_directory_path() / "embd-ready-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "ready.json";
  }
  ~ReadyFile() override { std::filesystem::remove_all(folder_); }

  std::string Content() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  static std::string OwnPid() { return std::to_string(getpid()); }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

TEST_F(ReadyFile, HasPidAndAddressesAsJson) {
  ASSERT_THAT(WriteReadyFile(path_, {"127.0.0.1:80", "unix:/tmp/s"}, {"127.0.0.1:81"}), IsOk());

  EXPECT_EQ(Content(), "{\"pid\": " + OwnPid() +
                           ", \"listen\": [\"127.0.0.1:80\", \"unix:/tmp/s\"], \"metrics\": [\"127.0.0.1:81\"]}\n");
}

TEST_F(ReadyFile, QuotesBackslashesAndControlCharactersAreEscaped) {
  ASSERT_THAT(WriteReadyFile(path_, {"unix:/a\"b\\c\x01\n"}), IsOk());

  EXPECT_EQ(Content(), "{\"pid\": " + OwnPid() + ", \"listen\": [\"unix:/a\\\"b\\\\c\\u0001\\n\"], \"metrics\": []}\n");
}

TEST_F(ReadyFile, FolderThatIsMissingIsAnErrorAndLeavesNothing) {
  EXPECT_THAT(WriteReadyFile(folder_ / "none" / "ready.json", {}), ReasonIs("CANNOT_WRITE"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(ReadyFile, StaleOneIsRemoved) {
  std::ofstream(path_) << "{\"pid\": 1, \"listen\": []}\n";

  RemoveStaleReadyFile(path_);

  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(ReadyFile, WhatIsNoFileIsLeftAlone) {
  std::filesystem::create_directory(path_);

  RemoveStaleReadyFile(path_);

  EXPECT_TRUE(std::filesystem::is_directory(path_));
}

TEST_F(ReadyFile, OwnOneIsRemovedAtTheEnd) {
  ASSERT_THAT(WriteReadyFile(path_, {"127.0.0.1:80"}), IsOk());

  RemoveOwnReadyFile(path_);

  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(ReadyFile, OneThatAnotherServerHasWrittenStays) {
  std::ofstream(path_) << "{\"pid\": " + OwnPid() + "0, \"listen\": []}\n";

  RemoveOwnReadyFile(path_);

  EXPECT_TRUE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace embd::app
