#include "server/service/overload.h"

#include <new>

#include "gmock/gmock.h"
#include "proto/wire/status.h"
#include "tests/support/status_matchers.h"

namespace embd::service {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Overload, SaysWhenToTryAgainInTextAndAsValue) {
  const absl::Status status = Overloaded("too much at once");

  EXPECT_THAT(status, AllOf(StatusIs(absl::StatusCode::kResourceExhausted, "too much at once; try again in 50 ms"),
                            ReasonIs("OVERLOADED")));
  EXPECT_EQ(wire::RetryAfterMs(status), 50);
}

TEST(Overload, WorkThatFindsNoMemoryIsRefusedForNow) {
  const absl::Status status = WithinMemory([]() -> absl::Status { throw std::bad_alloc(); });

  EXPECT_THAT(status, AllOf(StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("no memory left")),
                            ReasonIs("OVERLOADED")));
  EXPECT_FALSE(wire::NeverFits(status));
}

TEST(Overload, StatusOfWorkThatEndsPassesThrough) {
  EXPECT_THAT(WithinMemory([] { return absl::OkStatus(); }), IsOk());
  EXPECT_THAT(WithinMemory([] { return absl::NotFoundError("gone"); }), StatusIs(absl::StatusCode::kNotFound, "gone"));
}

}  // namespace
}  // namespace embd::service
