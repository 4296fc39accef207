#include "server/observability/trace_context.h"

#include <algorithm>

namespace embd::observability {
namespace {

constexpr std::size_t kMaxRequestIdBytes = 128;
constexpr std::size_t kLength = 55;  // 00-{32}-{16}-{2}

bool IsHex(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsZero(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '0'; });
}

}  // namespace

std::optional<TraceContext> ParseTraceparent(absl::string_view header) {
  if (header.size() < kLength) return std::nullopt;
  if (header[2] != '-' || header[35] != '-' || header[52] != '-') return std::nullopt;
  const absl::string_view version = header.substr(0, 2);
  const absl::string_view trace_id = header.substr(3, 32);
  const absl::string_view span_id = header.substr(36, 16);
  const absl::string_view flags = header.substr(53, 2);
  if (!IsHex(version) || !IsHex(trace_id) || !IsHex(span_id) || !IsHex(flags)) return std::nullopt;
  if (version == "ff" || IsZero(trace_id) || IsZero(span_id)) return std::nullopt;
  if (header.size() > kLength && (version == "00" || header[kLength] != '-')) return std::nullopt;
  const char last = flags[1];
  return TraceContext{
      .trace_id = trace_id, .span_id = span_id, .sampled = ((last <= '9' ? last - '0' : last - 'a' + 10) & 1) != 0};
}

bool IsRequestId(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxRequestIdBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

}  // namespace embd::observability
