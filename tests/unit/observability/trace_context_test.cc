#include "server/observability/trace_context.h"

#include <optional>
#include <string>

#include "gmock/gmock.h"

namespace embd::observability {
namespace {

constexpr char kTraceId[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kSpanId[] = "00f067aa0ba902b7";

std::string Header(const std::string& version, const std::string& flags, const std::string& rest = "") {
  return version + "-" + kTraceId + "-" + kSpanId + "-" + flags + rest;
}

TEST(Traceparent, HasTraceSpanAndFlag) {
  const std::string header = Header("00", "01");
  const auto trace = ParseTraceparent(header);

  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->trace_id, kTraceId);
  EXPECT_EQ(trace->span_id, kSpanId);
  EXPECT_TRUE(trace->sampled);
}

TEST(Traceparent, OnlyTheLowestFlagSaysSampled) {
  EXPECT_FALSE(ParseTraceparent(Header("00", "00"))->sampled);
  EXPECT_FALSE(ParseTraceparent(Header("00", "fe"))->sampled);
  EXPECT_TRUE(ParseTraceparent(Header("00", "ff"))->sampled);
}

TEST(Traceparent, LaterVersionMayHaveMoreBehindADash) {
  EXPECT_TRUE(ParseTraceparent(Header("01", "01")).has_value());
  EXPECT_TRUE(ParseTraceparent(Header("cc", "01", "-what-the-future-holds")).has_value());
  EXPECT_FALSE(ParseTraceparent(Header("cc", "01", ".what")).has_value());
}

TEST(Traceparent, WhatIsMalformedIsNothing) {
  const std::string zeros = "00-" + std::string(32, '0') + "-" + kSpanId + "-01";
  const std::string zero_span = std::string("00-") + kTraceId + "-" + std::string(16, '0') + "-01";
  for (const std::string& header :
       {std::string(), std::string("00"), Header("ff", "01"), Header("00", "01", "-more"), Header("00", "0"),
        Header("00", "0g"), Header("0G", "01"), zeros, zero_span, " " + Header("00", "01"),
        Header("00", "01").substr(0, 54), std::string(55, '-'), std::string(55, 'a'),
        std::string("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01")}) {
    EXPECT_EQ(ParseTraceparent(header).has_value(), false) << header;
  }
}

TEST(RequestId, IsVisibleAsciiOfBoundedLength) {
  EXPECT_TRUE(IsRequestId("a"));
  EXPECT_TRUE(IsRequestId(std::string(128, '~')));
  EXPECT_FALSE(IsRequestId(""));
  EXPECT_FALSE(IsRequestId(std::string(129, 'a')));
  EXPECT_FALSE(IsRequestId("a b"));
  EXPECT_FALSE(IsRequestId("a\n"));
  EXPECT_FALSE(IsRequestId("\x7f"));
  EXPECT_FALSE(IsRequestId("\xc3\xa9"));
}

}  // namespace
}  // namespace embd::observability
