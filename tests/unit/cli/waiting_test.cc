#include "client/cli/commands/waiting.h"

#include <sstream>
#include <string>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"

namespace embd::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// A terminal that tells when something has been drawn on it.
class Screen final : public std::stringbuf {
 public:
  void WaitUntilDrawn() { drawn_.WaitForNotificationWithTimeout(absl::Seconds(60)); }

 private:
  int sync() override {
    if (!drawn_.HasBeenNotified()) drawn_.Notify();
    return 0;
  }

  absl::Notification drawn_;
};

TEST(Waiting, SaysHowLongAndWipesItselfOut) {
  Screen screen;
  std::ostream terminal(&screen);
  {
    const Waiting waiting(&terminal, absl::Seconds(60), absl::Milliseconds(1));
    screen.WaitUntilDrawn();
  }

  EXPECT_THAT(screen.str(), HasSubstr("waiting for the server: 0 s of at most 60 s"));
  EXPECT_THAT(screen.str(), EndsWith("\r\x1b[K"));
}

TEST(Waiting, DrawsNothingForACallThatIsShort) {
  std::ostringstream terminal;
  { const Waiting waiting(&terminal, absl::Seconds(60), absl::Hours(1)); }

  EXPECT_EQ(terminal.str(), "");
}

}  // namespace
}  // namespace embd::cli
