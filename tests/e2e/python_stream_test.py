"""EmbedStream: one answer a request, in order; a bad item does not end the stream."""

import unittest

import grpc
import numpy as np

from support.arrays import to_array
from support.calls import Client, refusal_of
from support.server_process import ServerProcess
from support.stubs import embedding_pb2
from support.wire import chunk

BAD = 37


def setUpModule():
    global client
    server = unittest.enterModuleContext(ServerProcess())
    client = unittest.enterModuleContext(Client(server.address))


def fields_of(index):
    """A request whose shape and model differ from its neighbours'."""
    batch_size, sequence_length = 1 + index % 4, 1 + index % 50
    ids = np.random.default_rng(index).integers(0, 320, batch_size * sequence_length).tolist()
    if index == BAD:
        ids[0] = 320
    model = ("demo-learned", "demo-sinusoidal", "demo-rotary")[index % 3]
    return {"model": model, "ids": ids, "batch_size": batch_size, "sequence_length": sequence_length}


def item(request_id, fields):
    return embedding_pb2.EmbedStreamRequest(request_id=request_id, request=embedding_pb2.EmbedRequest(**fields))


class StreamTest(unittest.TestCase):
    def test_a_hundred_requests_are_answered_in_order_around_a_bad_one(self):
        answers = list(client.embedding.EmbedStream((item(f"r{i}", fields_of(i)) for i in range(100)), timeout=60))

        self.assertEqual([(a.index, a.request_id) for a in answers], [(i, f"r{i}") for i in range(100)])
        self.assertEqual([a.index for a in answers if a.WhichOneof("result") == "error"], [BAD])
        for answer in answers:
            if answer.index != BAD:
                self.assertEqual(answer.response, client.call(**fields_of(answer.index)))

    def test_error_of_an_item_is_the_error_of_the_unary_call(self):
        (answer,) = client.embedding.EmbedStream(iter([item("x", fields_of(BAD))]), timeout=60)
        unary = refusal_of(client.call, **fields_of(BAD))

        self.assertEqual(unary.code, grpc.StatusCode.INVALID_ARGUMENT)
        self.assertEqual(answer.error.code, unary.code.value[0])
        self.assertEqual(answer.error.message, unary.text)
        self.assertEqual(answer.error.reason, unary.reason)
        self.assertFalse(answer.error.HasField("retry_after_ms"))

    def test_bytes_that_are_no_item_get_an_error_of_their_own(self):
        good = item("good", fields_of(1)).SerializeToString()

        answers = client.stream_bytes([good, b"\xff" * 20, chunk(100, b"\x12\x7f\x01"), good])

        self.assertEqual([a.index for a in answers], [0, 1, 2, 3])
        self.assertEqual([a.WhichOneof("result") for a in answers], ["response", "error", "error", "response"])
        for answer in answers[1:3]:
            self.assertEqual(answer.request_id, "")
            self.assertEqual((answer.error.code, answer.error.reason), (3, "MALFORMED_REQUEST"))

    def test_item_without_a_request_is_refused_and_keeps_its_id(self):
        (answer,) = client.embedding.EmbedStream(
            iter([embedding_pb2.EmbedStreamRequest(request_id="empty")]), timeout=60
        )

        self.assertEqual(answer.request_id, "empty")
        self.assertEqual(answer.WhichOneof("result"), "error")

    def test_stream_without_requests_ends_with_ok(self):
        self.assertEqual(list(client.embedding.EmbedStream(iter([]), timeout=60)), [])

    def test_stream_of_large_replies_arrives_whole(self):
        ids = np.random.default_rng(5).integers(0, 320, (256, 128))
        fields = {"model": "demo-learned", "ids": ids.ravel().tolist(), "batch_size": 256, "sequence_length": 128}
        expected = client.call(**fields)

        answers = list(client.embedding.EmbedStream((item(str(i), fields) for i in range(6)), timeout=60))

        self.assertEqual(len(answers), 6)
        self.assertEqual(to_array(expected.embeddings).shape, (256, 128, 64))
        for answer in answers:
            self.assertEqual(answer.response, expected)

    def test_server_answers_after_a_caller_left_its_stream(self):
        call = client.embedding.EmbedStream((item(str(i), fields_of(1)) for i in range(1000)), timeout=60)
        next(call)
        call.cancel()

        client.call(**fields_of(2))


if __name__ == "__main__":
    unittest.main()
