#include "server/app/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::app {
namespace {

using ::testing::MatchesRegex;
using ::testing::StartsWith;

// The socket of a service manager, under a path or, behind "@", a name.
class Listener {
 public:
  explicit Listener(const std::string& name) : file_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(bind(file_, reinterpret_cast<const sockaddr*>(&address), length), 0);
  }
  ~Listener() { close(file_); }

  std::string Next() {
    std::string message(1024, '\0');
    const ssize_t size = recv(file_, message.data(), message.size(), MSG_DONTWAIT);
    message.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return message;
  }

 private:
  const int file_;
};

TEST(ServiceManager, IsToldOfEveryTurnInOneMessageEach) {
  const formats::ScratchFolder folder;
  Listener listener(folder.Path("notify"));
  const ServiceManager manager(folder.Path("notify"));

  manager.Starting();
  manager.Ready();
  manager.Reloading();
  manager.Stopping();

  EXPECT_EQ(listener.Next(), "STATUS=loading models");
  EXPECT_EQ(listener.Next(), "READY=1\nSTATUS=serving");
  EXPECT_THAT(listener.Next(), MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+\nSTATUS=.*"));
  EXPECT_THAT(listener.Next(), StartsWith("STOPPING=1\nSTATUS="));
  EXPECT_EQ(listener.Next(), "");
}

TEST(ServiceManager, NamesOfTheKernelsOwnAreReached) {
  const std::string name = absl::StrCat("@embd-test-", getpid());
  Listener listener(name);

  ServiceManager(name).Ready();

  EXPECT_THAT(listener.Next(), StartsWith("READY=1"));
}

TEST(ServiceManager, NothingHappensWhereNobodyListens) {
  const formats::ScratchFolder folder;
  for (const std::string& socket :
       {std::string(), std::string("relative"), folder.Path("nobody"), "/" + std::string(200, 'x')}) {
    ServiceManager(socket).Ready();
  }
}

}  // namespace
}  // namespace embd::app
