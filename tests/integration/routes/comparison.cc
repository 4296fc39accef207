#include "tests/integration/routes/comparison.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "gtest/gtest.h"
#include "server/core/error.h"

namespace embd::testing {
namespace {

constexpr std::size_t kShownBytes = 2000;

// The encoded message, maps in order.
std::string Bytes(const google::protobuf::Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

std::string Shown(const google::protobuf::Message& message) {
  return message.ShortDebugString().substr(0, kShownBytes);
}

template <typename Response>
std::string Shown(const absl::StatusOr<Response>& answer) {
  if (answer.ok()) return Shown(*answer);
  return absl::StrCat(CodeAndReason(answer.status()), ": ", answer.status().message());
}

template <typename Response>
void ExpectSame(const char* route, const absl::StatusOr<Response>& answer, const absl::StatusOr<Response>& expected,
                const google::protobuf::Message& request) {
  const bool same = answer.ok() && expected.ok() ? Bytes(*answer) == Bytes(*expected)
                                                 : answer.status() == expected.status();  // with its reason
  if (same) return;
  ADD_FAILURE() << route << " answers " << Shown(answer) << "\nothers answer " << Shown(expected) << "\nto "
                << Shown(request);
}

bool IsInTritonsWords(const absl::Status& status) {
  const std::string reason = core::ErrorReason(status);
  return reason == "MODEL_NOT_FOUND" || reason == "VERSION_NOT_FOUND" ||
         (reason == "REQUEST_TOO_LARGE" && absl::StartsWith(status.message(), "batch_size "));
}

bool SameInOtherWords(const absl::Status& own, const absl::Status& other) {
  if (CodeAndReason(own) != CodeAndReason(other)) return false;
  return IsInTritonsWords(own) || other.message() == InOtherWords(own.message());
}

bool SameInOtherWords(const v1::EmbedResponse& own, const ::inference::ModelInferResponse& other) {
  if (other.outputs_size() != 1 || other.raw_output_contents_size() != 1) return false;
  const v1::Tensor& tensor = own.embeddings();
  return other.raw_output_contents(0) == tensor.data() &&
         other.outputs(0).datatype() == DatatypeOf(tensor.data_type()) &&
         std::ranges::equal(other.outputs(0).shape(), tensor.shape()) && other.model_version() == own.model_version() &&
         other.parameters().at("checksum").string_param() == own.checksum() &&
         other.parameters().at("generation").int64_param() == own.generation() &&
         other.parameters().contains("warnings") == (own.warnings_size() > 0);
}

void ExpectSameInOtherWords(const Answer& own, const InferAnswer& other, const v1::EmbedRequest& request) {
  const bool same =
      own.ok() && other.ok() ? SameInOtherWords(*own, *other) : SameInOtherWords(own.status(), other.status());
  if (same) return;
  ADD_FAILURE() << "embd.v1 answers " << Shown(own) << "\nthe Open Inference Protocol answers " << Shown(other)
                << "\nto " << Shown(request);
}

}  // namespace

std::string CodeAndReason(const absl::Status& status) {
  return absl::StrCat(absl::StatusCodeToString(status.code()), " [", core::ErrorReason(status), "]");
}

std::vector<Answer> Comparison::Send(const std::vector<v1::EmbedRequest>& requests, std::int64_t embedding_dim) {
  std::vector<Answer> answers;
  const std::vector<Answer> items = routes_.EmbedStream(requests);
  std::vector<std::size_t> translated;
  std::vector<InferCall> calls;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    answers.push_back(routes_.Embed(requests[i]));
    ExpectSame("EmbedStream", items[i], answers[i], requests[i]);
    SendOneByOne(requests[i], answers[i]);
    if (!HasInferForm(requests[i], embedding_dim)) continue;
    translated.push_back(i);
    calls.push_back(ToInferCall(requests[i]));
  }
  sent_ += 2 * static_cast<std::int64_t>(requests.size());
  sent_in_other_words_ += static_cast<std::int64_t>(calls.size());
  const std::vector<InferAnswer> others = Send(calls);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ExpectSameInOtherWords(answers[translated[i]], others[i], requests[translated[i]]);
  }
  return answers;
}

void Comparison::SendOneByOne(const v1::EmbedRequest& request, const Answer& expected) {
  if (request.has_output_target()) return;
  ++sent_;
  ExpectSame("Embed into a region", routes_.EmbedToRegion(request), expected, request);
  if (request.if_checksum().empty()) ExpectSame("the engine alone", routes_.Core(request), expected, request);
  if (request.unique() || core::ErrorReason(expected.status()) == "RESPONSE_TOO_LARGE") return;
  ++sent_;
  // Of one row, of a few, or all in one, as the request's own size has it.
  const std::int64_t max_chunk_bytes = std::array<std::int64_t, 4>{0, 1, 700, 5000}[request.ByteSizeLong() % 4];
  ExpectSame("EmbedChunks", routes_.EmbedChunks(request, max_chunk_bytes), expected, request);
}

std::vector<InferAnswer> Comparison::Send(const std::vector<InferCall>& calls) {
  std::vector<::inference::ModelInferRequest> raw;
  for (const InferCall& call : calls) raw.push_back(WithRawContents(call));
  const std::vector<InferAnswer> items = routes_.InferStream(raw);
  std::vector<InferAnswer> answers;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    answers.push_back(routes_.Infer(raw[i]));
    const InferAnswer expected =
        answers[i].ok() ? answers[i] : InferAnswer(absl::UnknownError(answers[i].status().message()));
    ExpectSame("ModelStreamInfer", items[i], expected, raw[i]);
    SendOneByOne(calls[i], answers[i]);
  }
  sent_ += 2 * static_cast<std::int64_t>(calls.size());
  return answers;
}

void Comparison::SendOneByOne(const InferCall& call, const InferAnswer& expected) {
  ++sent_;
  ExpectSame("ModelInfer in a region", routes_.InferInRegion(call), expected, call.request);
  if (!HasTypedForm(call)) return;
  ++sent_;
  ExpectSame("ModelInfer with typed contents", routes_.Infer(WithTypedContents(call)), expected, call.request);
}

}  // namespace embd::testing
