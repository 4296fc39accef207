#ifndef EMBD_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define EMBD_TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"

namespace embd::testing {

inline const absl::Status& GetStatus(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& GetStatus(const absl::StatusOr<T>& result) {
  return result.status();
}

/// Matches a status, or a StatusOr, that is OK.
MATCHER(IsOk, negation ? "is not OK" : "is OK") {
  *result_listener << GetStatus(arg).ToString();
  return GetStatus(arg).ok();
}

/// Matches a status, or a StatusOr, of that code whose message matches.
MATCHER_P2(StatusIs, code, message_matcher,
           "has code " + absl::StatusCodeToString(code) + " and a message that " +
               ::testing::DescribeMatcher<std::string>(message_matcher)) {
  const absl::Status& status = GetStatus(arg);
  *result_listener << status.ToString();
  return status.code() == code &&
         ::testing::ExplainMatchResult(message_matcher, std::string(status.message()), result_listener);
}

/// Matches a status, or a StatusOr, with that reason in its payload (core::Error, embd::client::ErrorReason).
MATCHER_P(ReasonIs, reason, std::string("has reason ") + reason) {
  const auto payload = GetStatus(arg).GetPayload("embd.v1/reason");
  const std::string found = payload.has_value() ? std::string(*payload) : "none";
  *result_listener << "reason " << found << " of " << GetStatus(arg).ToString();
  return found == reason;
}

}  // namespace embd::testing

#define EMBD_CONCAT_INNER(a, b) a##b
#define EMBD_CONCAT(a, b) EMBD_CONCAT_INNER(a, b)

/// Defines `lhs` from the value of a StatusOr; ends the test where it is an error.
#define ASSERT_OK_AND_ASSIGN(lhs, expression) ASSERT_OK_AND_ASSIGN_(EMBD_CONCAT(status_or_, __LINE__), lhs, expression)
#define ASSERT_OK_AND_ASSIGN_(variable, lhs, expression) \
  auto variable = (expression);                          \
  ASSERT_THAT(variable, ::embd::testing::IsOk());        \
  lhs = std::move(variable).value()

#endif  // EMBD_TESTS_SUPPORT_STATUS_MATCHERS_H_
