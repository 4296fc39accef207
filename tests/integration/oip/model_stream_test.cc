// ModelStreamInfer: an item that is refused says so, and the stream goes on and ends well.

#include <string>
#include <vector>

#include "tests/integration/oip/oip_server.h"

namespace embd {
namespace {

using ::embd::testing::IdsRequest;
using ::embd::testing::InferRequest;
using ::embd::testing::IsOk;
using ::testing::HasSubstr;

using StreamItem = ::inference::ModelStreamInferResponse;

class ModelStream : public testing::OipServer {
 protected:
  // Sends all, then reads all; the stream itself must end well.
  std::vector<StreamItem> Stream(const std::vector<InferRequest>& requests) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    const auto stream = stub().ModelStreamInfer(&context);
    for (const InferRequest& request : requests) EXPECT_TRUE(stream->Write(request));
    EXPECT_TRUE(stream->WritesDone());
    std::vector<StreamItem> items;
    for (StreamItem item; stream->Read(&item);) items.push_back(item);
    EXPECT_TRUE(stream->Finish().ok());
    EXPECT_EQ(items.size(), requests.size());
    return items;
  }
};

InferRequest WithId(const std::string& id) {
  InferRequest request = IdsRequest();
  request.set_id(id);
  return request;
}

TEST_F(ModelStream, ItemsAreAnsweredInOrderWithTheBytesOfTheUnaryCall) {
  const auto items = Stream({WithId("a"), WithId("b"), WithId("")});

  const auto unary = Infer(WithId("a"));
  ASSERT_THAT(unary, IsOk());
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].infer_response().id(), "a");
  EXPECT_EQ(items[1].infer_response().id(), "b");
  EXPECT_EQ(items[2].infer_response().id(), "");
  for (const StreamItem& item : items) {
    EXPECT_EQ(item.error_message(), "");
    EXPECT_THAT(item.infer_response().raw_output_contents(), ::testing::ElementsAre(unary->raw_output_contents(0)));
  }
}

TEST_F(ModelStream, RefusedItemHasTheSentenceAndItsIdAndTheStreamGoesOn) {
  InferRequest unknown = WithId("bad"), empty;
  unknown.set_model_name("foo");

  const auto items = Stream({WithId("a"), unknown, empty, WithId("c")});

  ASSERT_EQ(items.size(), 4u);
  EXPECT_EQ(items[1].error_message(), "Request for unknown model: 'foo' is not found");
  EXPECT_EQ(items[1].infer_response().id(), "bad");
  EXPECT_EQ(items[1].infer_response().outputs_size(), 0);
  EXPECT_EQ(items[2].error_message(), "Request for unknown model: '' is not found");
  EXPECT_EQ(items[3].infer_response().id(), "c");
  EXPECT_EQ(items[3].infer_response().raw_output_contents_size(), 1);
}

TEST_F(ModelStream, IdThatIsTooLongIsRefusedAndNotEchoed) {
  const auto items = Stream({WithId(std::string(1025, 'i')), WithId("c")});

  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].error_message(), "id has 1025 bytes; at most 1024 are allowed");
  EXPECT_EQ(items[0].infer_response().id(), "");
  EXPECT_EQ(items[1].infer_response().id(), "c");
}

TEST_F(ModelStream, LongMessagesAreCut) {
  InferRequest request = WithId("long");
  for (int i = 0; i < 100'000; ++i) request.mutable_inputs(0)->add_shape(1);

  const auto items = Stream({request});

  ASSERT_EQ(items.size(), 1u);
  EXPECT_THAT(items[0].error_message(), HasSubstr("unexpected shape for input 'input_ids'"));
  EXPECT_LE(items[0].error_message().size(), 1024u);
}

TEST_F(ModelStream, FinalResponseIsMarkedWhereTheRequestAsksForIt) {
  InferRequest request = WithId("a");
  (*request.mutable_parameters())["triton_enable_empty_final_response"].set_bool_param(true);

  const auto items = Stream({request, WithId("b")});

  ASSERT_EQ(items.size(), 2u);
  EXPECT_TRUE(items[0].infer_response().parameters().at("triton_final_response").bool_param());
  EXPECT_EQ(items[1].infer_response().parameters().count("triton_final_response"), 0u);
}

TEST_F(ModelStream, ParametersOfItemsAreCheckedAsThoseOfCalls) {
  InferRequest reserved = WithId("a"), late = WithId("b");
  (*reserved.mutable_parameters())["triton_foo"].set_bool_param(true);
  (*late.mutable_parameters())["timeout"].set_int64_param(1);

  const auto items = Stream({reserved, late});

  ASSERT_EQ(items.size(), 2u);
  EXPECT_THAT(items[0].error_message(), HasSubstr("parameter keys starting with 'triton_' are reserved"));
  EXPECT_EQ(items[1].error_message(), "the timeout of the request has passed");
}

}  // namespace
}  // namespace embd
