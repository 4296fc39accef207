// The same request by embd.v1 and by the Open Inference Protocol: the same bits, or the same refusal.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "embd/v1/embedding.grpc.pb.h"
#include "gmock/gmock.h"
#include "inference/grpc_service.grpc.pb.h"
#include "proto/wire/status.h"
#include "server/config/load.h"
#include "server/core/error.h"
#include "tests/integration/oip/infer_call.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using ::embd::testing::IsOk;

constexpr std::int64_t kDim = 24;

// Models that differ in what they add, how they number cells, and what they do with ids out of range.
constexpr char kModels[] = R"(
server: { limits: { max_batch_size: 16, max_sequence_length: 64, max_response_bytes: 64KiB } }
models:
  - name: learned
    token: { seeded: { vocab_size: 50, embedding_dim: 24, seed: 1, std: 1 } }
    position: { learned: { seeded: { max_context_length: 12, seed: 2, std: 1 } } }
  - name: sinusoidal
    token: { seeded: { vocab_size: 50, embedding_dim: 24, seed: 3 }, scale: sqrt_dim }
    position: { sinusoidal: { max_context_length: 12 } }
  - name: rotary
    token: { seeded: { vocab_size: 50, embedding_dim: 24, seed: 4 } }
    position: { rotary: {} }
  - name: none
    token: { seeded: { vocab_size: 50, embedding_dim: 24, seed: 5 } }
  - name: typed
    token: { seeded: { vocab_size: 50, embedding_dim: 24, seed: 6 } }
    token_type: { seeded: { type_vocab_size: 2, seed: 7 } }
    position: { learned: { seeded: { max_context_length: 12, seed: 8 } } }
  - name: padded
    token: { seeded: { vocab_size: 50, embedding_dim: 24, seed: 9 } }
    position: { learned: { seeded: { max_context_length: 12, seed: 10 } }, numbering: padding }
    padding_idx: 1
  - name: masked
    token: { seeded: { vocab_size: 50, embedding_dim: 24, seed: 11 } }
    position: { learned: { seeded: { max_context_length: 12, seed: 12 } }, numbering: mask, row_offset: 2 }
  - name: lenient
    token: { seeded: { vocab_size: 50, embedding_dim: 24, seed: 13 }, out_of_range: zero }
    position: { learned: { seeded: { max_context_length: 12, seed: 14 } } }
)";

constexpr const char* kNames[] = {"learned", "sinusoidal", "rotary", "none", "typed", "padded", "masked", "lenient"};

// How a refusal is compared: the whole message, or, where Triton has a sentence of its own for it, the code alone.
enum class Words { kSame, kTritons };

struct Case {
  std::string name;
  std::function<void(v1::EmbedRequest*)> fill;
  Words words = Words::kSame;
};

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

void Ids(v1::EmbedRequest* request, std::int64_t batch_size, std::int64_t sequence_length,
         const std::vector<std::int64_t>& ids) {
  request->set_batch_size(batch_size);
  request->set_sequence_length(sequence_length);
  request->mutable_ids()->Assign(ids.begin(), ids.end());
}

void SomeIds(v1::EmbedRequest* request) { Ids(request, 2, 3, {1, 5, 7, 49, 1, 1}); }

void SomeVectors(v1::EmbedRequest* request, v1::DataType type, std::size_t element_bytes) {
  v1::Tensor& tensor = *request->mutable_inputs_embeds();
  tensor.set_data_type(type);
  for (const std::int64_t extent : {std::int64_t{2}, std::int64_t{3}, kDim}) tensor.add_shape(extent);
  for (std::size_t i = 0; i < 2 * 3 * kDim * element_bytes; ++i) {
    tensor.mutable_data()->push_back(static_cast<char>((i * 37) % 61));
  }
}

std::vector<Case> Cases() {
  using Request = v1::EmbedRequest;
  const auto with_ids = [](const std::function<void(Request*)>& more) {
    return [more](Request* request) {
      SomeIds(request);
      more(request);
    };
  };
  return {
      {"ids", SomeIds},
      {"one cell", [](Request* r) { Ids(r, 1, 1, {0}); }},
      {"no row", [](Request* r) { Ids(r, 0, 3, {}); }},
      {"no column", [](Request* r) { Ids(r, 2, 0, {}); }},
      {"token part", with_ids([](Request* r) { r->set_part(v1::PART_TOKEN); })},
      {"position part", with_ids([](Request* r) { r->set_part(v1::PART_POSITION); })},
      {"float16", with_ids([](Request* r) { r->set_output_type(v1::DATA_TYPE_FLOAT16); })},
      {"bfloat16", with_ids([](Request* r) { r->set_output_type(v1::DATA_TYPE_BFLOAT16); })},
      {"the version", with_ids([](Request* r) { r->set_model_version("1"); })},
      {"another version", with_ids([](Request* r) { r->set_model_version("2"); }), Words::kTritons},
      {"position ids of each cell", with_ids([](Request* r) {
         for (const std::int64_t p : {3, 4, 5, 0, 1, 2}) r->add_position_ids(p);
       })},
      {"position ids for all rows", with_ids([](Request* r) {
         for (const std::int64_t p : {7, 1, 6}) r->add_position_ids(p);
       })},
      {"a position id beyond the table", with_ids([](Request* r) {
         for (const std::int64_t p : {3, 4, 5, 0, 99, 2}) r->add_position_ids(p);
       })},
      {"a negative position id", with_ids([](Request* r) {
         for (const std::int64_t p : {3, 4, -5, 0, 9, 2}) r->add_position_ids(p);
       })},
      {"mask of right padding", with_ids([](Request* r) {
         for (const std::int64_t m : {1, 1, 0, 1, 1, 1}) r->add_attention_mask(m);
       })},
      {"mask of left padding", with_ids([](Request* r) {
         for (const std::int64_t m : {0, 0, 1, 0, 1, 1}) r->add_attention_mask(m);
       })},
      {"mask and position ids", with_ids([](Request* r) {
         for (const std::int64_t m : {0, 1, 1, 1, 1, 1}) r->add_attention_mask(m);
         for (const std::int64_t p : {0, 4, 5, 2, 1, 2}) r->add_position_ids(p);
       })},
      {"a mask of twos", with_ids([](Request* r) {
         for (const std::int64_t m : {1, 1, 2, 1, 1, 1}) r->add_attention_mask(m);
       })},
      {"token types", with_ids([](Request* r) {
         for (const std::int64_t t : {0, 1, 1, 0, 0, 1}) r->add_token_type_ids(t);
       })},
      {"a token type out of range", with_ids([](Request* r) {
         for (const std::int64_t t : {0, 1, 1, 0, 2, 1}) r->add_token_type_ids(t);
       })},
      {"an id out of range",
       [](Request* r) {
         Ids(r, 2, 3, {1, 5, 50, 49, 0, 0});
       }},
      {"a negative id",
       [](Request* r) {
         Ids(r, 2, 3, {1, 5, 7, 49, -1, 0});
       }},
      {"the largest and the smallest id",
       [](Request* r) {
         Ids(r, 1, 2, {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()});
       }},
      {"as many columns as positions", [](Request* r) { Ids(r, 1, 12, std::vector<std::int64_t>(12, 2)); }},
      {"more columns than positions", [](Request* r) { Ids(r, 1, 13, std::vector<std::int64_t>(13, 2)); }},
      {"more columns than max_sequence_length", [](Request* r) { Ids(r, 1, 65, std::vector<std::int64_t>(65, 2)); }},
      {"more rows than max_batch_size", [](Request* r) { Ids(r, 17, 1, std::vector<std::int64_t>(17, 2)); },
       Words::kTritons},
      {"more rows than max_batch_size, and token types that the model may not have",
       [](Request* r) {
         Ids(r, 17, 1, std::vector<std::int64_t>(17, 2));
         r->mutable_token_type_ids()->Resize(17, 0);
       },
       Words::kTritons},
      {"a reply beyond max_response_bytes", [](Request* r) { Ids(r, 16, 64, std::vector<std::int64_t>(16 * 64, 2)); }},
      {"fewer ids than cells",
       [](Request* r) {
         Ids(r, 2, 3, {1, 2, 3, 4, 5});
       },
       Words::kTritons},
      {"int32 ids",
       [](Request* r) {
         v1::Tensor& tensor = *r->mutable_ids_tensor();
         tensor.set_data_type(v1::DATA_TYPE_INT32);
         tensor.add_shape(2);
         tensor.add_shape(3);
         tensor.set_data(Bytes<std::int32_t>({1, 5, 7, 49, 0, 0}));
       }},
      {"a negative int32 id",
       [](Request* r) {
         v1::Tensor& tensor = *r->mutable_ids_tensor();
         tensor.set_data_type(v1::DATA_TYPE_INT32);
         tensor.add_shape(1);
         tensor.add_shape(2);
         tensor.set_data(Bytes<std::int32_t>({1, -7}));
       }},
      {"float32 vectors", [](Request* r) { SomeVectors(r, v1::DATA_TYPE_FLOAT32, 4); }},
      {"float16 vectors", [](Request* r) { SomeVectors(r, v1::DATA_TYPE_FLOAT16, 2); }},
      {"bfloat16 vectors", [](Request* r) { SomeVectors(r, v1::DATA_TYPE_BFLOAT16, 2); }},
      {"float64 vectors", [](Request* r) { SomeVectors(r, v1::DATA_TYPE_FLOAT64, 8); }},
      {"vectors beside ids",
       [](Request* r) {
         SomeIds(r);
         SomeVectors(r, v1::DATA_TYPE_FLOAT32, 4);
       },
       Words::kTritons},
  };
}

/// Both services of one server.
class Parity : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto config = config::ParseYaml(kModels, "models.yaml");
    ASSERT_THAT(config, IsOk());
    served_ = std::make_unique<testing::ServedModels>(*std::move(config));
    const auto channel = served_->server().InProcessChannel({});
    own_ = v1::EmbeddingService::NewStub(channel);
    other_ = ::inference::GRPCInferenceService::NewStub(channel);
  }
  static void TearDownTestSuite() {
    own_.reset();
    other_.reset();
    served_.reset();
  }

  static absl::Status Own(const v1::EmbedRequest& request, v1::EmbedResponse* response) {
    grpc::ClientContext context;
    return wire::FromGrpcStatus(own_->Embed(&context, request, response));
  }
  static absl::Status Other(const ::inference::ModelInferRequest& request, ::inference::ModelInferResponse* response) {
    grpc::ClientContext context;
    return wire::FromGrpcStatus(other_->ModelInfer(&context, request, response));
  }
  // The one item of a stream, as a status that has no code of its own.
  static std::string OverStream(const ::inference::ModelInferRequest& request,
                                ::inference::ModelStreamInferResponse* response) {
    grpc::ClientContext context;
    const auto stream = other_->ModelStreamInfer(&context);
    EXPECT_TRUE(stream->Write(request));
    EXPECT_TRUE(stream->Read(response));
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok());
    return response->error_message();
  }

  static std::unique_ptr<testing::ServedModels> served_;
  static std::unique_ptr<v1::EmbeddingService::Stub> own_;
  static std::unique_ptr<::inference::GRPCInferenceService::Stub> other_;
};

std::unique_ptr<testing::ServedModels> Parity::served_;
std::unique_ptr<v1::EmbeddingService::Stub> Parity::own_;
std::unique_ptr<::inference::GRPCInferenceService::Stub> Parity::other_;

void ExpectSameResult(const v1::EmbedResponse& own, const ::inference::ModelInferResponse& other) {
  ASSERT_EQ(other.outputs_size(), 1);
  ASSERT_EQ(other.raw_output_contents_size(), 1);
  EXPECT_EQ(other.raw_output_contents(0), own.embeddings().data());
  EXPECT_EQ(other.outputs(0).datatype(), testing::DatatypeOf(own.embeddings().data_type()));
  EXPECT_THAT(other.outputs(0).shape(), ::testing::ElementsAreArray(own.embeddings().shape()));
  EXPECT_EQ(other.model_version(), own.model_version());
  EXPECT_EQ(other.parameters().at("checksum").string_param(), own.checksum());
  EXPECT_EQ(other.parameters().count("warnings"), own.warnings_size() > 0 ? 1 : 0);
}

void ExpectSameRefusal(const absl::Status& own, const absl::Status& other, Words words) {
  EXPECT_EQ(other.code(), own.code()) << own << "\n" << other;
  EXPECT_EQ(core::ErrorReason(other), core::ErrorReason(own)) << own << "\n" << other;
  if (words == Words::kSame) {
    EXPECT_EQ(other.message(), testing::InOtherWords(own.message()));
  }
}

TEST_F(Parity, TheSameRequestGetsTheSameBitsOrTheSameRefusal) {
  int answered = 0, refused = 0;
  for (const char* const model : kNames) {
    for (const Case& each : Cases()) {
      v1::EmbedRequest request;
      request.set_model(model);
      each.fill(&request);
      v1::EmbedResponse own;
      const absl::Status own_status = Own(request, &own);
      (own_status.ok() ? answered : refused) += 1;
      const testing::InferCall call = testing::ToInferCall(request);
      std::vector<::inference::ModelInferRequest> forms = {testing::WithRawContents(call)};
      if (testing::HasTypedForm(call)) forms.push_back(testing::WithTypedContents(call));
      for (const ::inference::ModelInferRequest& form : forms) {
        SCOPED_TRACE(absl::StrCat(model, ", ", each.name, form.raw_input_contents_size() > 0 ? ", raw" : ", typed"));
        ::inference::ModelInferResponse other;
        const absl::Status other_status = Other(form, &other);
        ::inference::ModelStreamInferResponse item;
        const std::string error = OverStream(form, &item);

        if (own_status.ok()) {
          ASSERT_THAT(other_status, IsOk());
          ExpectSameResult(own, other);
          EXPECT_EQ(error, "");
          ExpectSameResult(own, item.infer_response());
        } else {
          ExpectSameRefusal(own_status, other_status, each.words);
          EXPECT_EQ(error, other_status.message());
        }
      }
    }
  }
  EXPECT_GT(answered, 100);
  EXPECT_GT(refused, 60);
}

TEST_F(Parity, AnUnknownModelIsNotFoundByBoth) {
  v1::EmbedRequest request;
  request.set_model("nowhere");
  SomeIds(&request);
  v1::EmbedResponse own;
  ::inference::ModelInferResponse other;

  ExpectSameRefusal(Own(request, &own), Other(testing::WithRawContents(testing::ToInferCall(request)), &other),
                    Words::kTritons);
}

TEST_F(Parity, OneRequestForAllOutputsGivesWhatOneForEachGives) {
  for (const char* const model : {"learned", "sinusoidal", "typed"}) {
    v1::EmbedRequest request;
    request.set_model(model);
    SomeIds(&request);
    ::inference::ModelInferRequest all = testing::WithRawContents(testing::ToInferCall(request));
    all.clear_outputs();
    std::vector<std::string> expected;
    for (const v1::Part part : {v1::PART_POSITION, v1::PART_COMPOSED, v1::PART_TOKEN}) {
      all.add_outputs()->set_name(testing::OutputOf(part));
      request.set_part(part);
      v1::EmbedResponse own;
      ASSERT_THAT(Own(request, &own), IsOk());
      expected.push_back(own.embeddings().data());
    }

    ::inference::ModelInferResponse response;
    ASSERT_THAT(Other(all, &response), IsOk());

    EXPECT_THAT(response.raw_output_contents(), ::testing::ElementsAreArray(expected)) << model;
  }
}

}  // namespace
}  // namespace embd
