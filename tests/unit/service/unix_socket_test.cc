#include "server/app/unix_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::app {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;

class UnixSocketTest : public ::testing::Test {
 protected:
  UnixSocketTest() {
    std::string name = (std::filesystem::temp_directory_path() / "embd-unix-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = (folder_ / "socket").string();
  }
  ~UnixSocketTest() override { std::filesystem::remove_all(folder_); }

  // A listening socket; its file stays after it is closed.
  static int Listen(const std::string& path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const int file = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(file, 1), 0);
    return file;
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(UnixSocketTest, SocketOfARunningServerIsNotTaken) {
  const int running = Listen(path_);

  EXPECT_THAT(UnixSocket::Claim(path_), ReasonIs("CANNOT_LISTEN"));
  close(running);
}

TEST_F(UnixSocketTest, SocketOfADeadServerIsReplaced) {
  close(Listen(path_));

  auto claimed = UnixSocket::Claim(path_);
  ASSERT_THAT(claimed, IsOk());
  const int running = Listen(claimed->temporary_path());
  EXPECT_THAT(claimed->Publish(), IsOk());

  EXPECT_THAT(UnixSocket::Claim(path_), ReasonIs("CANNOT_LISTEN")) << "now it is served";
  close(running);
}

TEST_F(UnixSocketTest, FileThatIsNoSocketIsKept) {
  std::ofstream(path_) << "a letter";

  EXPECT_THAT(UnixSocket::Claim(path_), ReasonIs("CANNOT_LISTEN"));
  EXPECT_TRUE(std::filesystem::is_regular_file(path_));
}

TEST_F(UnixSocketTest, FolderThatLeavesNoRoomForANameIsRefused) {
  const std::string folder = path_ + "/" + std::string(105 - path_.size(), 'f');

  EXPECT_THAT(UnixSocket::Claim(folder + "/s"), ReasonIs("CANNOT_LISTEN"));
}

TEST_F(UnixSocketTest, OwnFileIsRemovedAtTheEnd) {
  {
    auto claimed = UnixSocket::Claim(path_);
    close(Listen(claimed->temporary_path()));
    ASSERT_THAT(claimed->Publish(), IsOk());
    ASSERT_TRUE(std::filesystem::exists(path_));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(UnixSocketTest, FileOfASuccessorIsKept) {
  auto claimed = UnixSocket::Claim(path_);
  close(Listen(claimed->temporary_path()));
  ASSERT_THAT(claimed->Publish(), IsOk());
  auto successor = UnixSocket::Claim(path_);
  ASSERT_THAT(successor, IsOk());
  close(Listen(successor->temporary_path()));
  ASSERT_THAT(successor->Publish(), IsOk());

  claimed->Remove();

  EXPECT_TRUE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace embd::app
