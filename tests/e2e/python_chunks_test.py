"""EmbedChunks with a stock client: no message over its limit of 4 MB, the bytes of Embed, nothing held by who is gone."""

import hashlib
import signal
import subprocess
import sys
import time
import unittest

import grpc
import numpy as np

from support.calls import Client, refusal_of
from support.server_process import ServerProcess
from support.stubs import diagnostics_pb2, diagnostics_pb2_grpc, embedding_pb2, tensor_pb2

WAIT_SECONDS = 60
MIB = 1 << 20
IN_FLIGHT = "server: { limits: { max_bytes_in_flight: 8MiB } }"

# Keeps eight calls under way whose first blocks fill what may be in flight, reads nothing, and waits to be killed. A call
# that is refused, because others held too much just then, is started anew.
STALLED_READER = """
import sys
import time
from support.calls import Client
from support.stubs import embedding_pb2
client = Client(sys.argv[1])
request = embedding_pb2.EmbedChunksRequest(
    request=embedding_pb2.EmbedRequest(
        model="demo-learned", batch_size=1024, sequence_length=128, part=embedding_pb2.PART_POSITION),
    max_chunk_bytes=1 << 20)
calls = [client.embedding.EmbedChunks(request) for _ in range(8)]
print("started", flush=True)
while True:
    time.sleep(0.02)
    calls = [call if call.is_active() else client.embedding.EmbedChunks(request) for call in calls]
"""


def batch(batch_size, sequence_length):
    """A request of that many cells, its ids as bytes."""
    ids = np.random.default_rng(7).integers(0, 320, (batch_size, sequence_length), dtype="<i4")
    tensor = tensor_pb2.Tensor(data_type=tensor_pb2.DATA_TYPE_INT32, shape=ids.shape, data=ids.tobytes())
    return embedding_pb2.EmbedRequest(model="demo-learned", ids_tensor=tensor)


def call_chunks(client, request, **fields):
    message = embedding_pb2.EmbedChunksRequest(request=request, **fields)
    return client.embedding.EmbedChunks(message, timeout=WAIT_SECONDS)


class StockClientTest(unittest.TestCase):
    def test_assembles_134_megabytes_equal_to_one_message(self):
        request = batch(4096, 128)
        for max_chunk_bytes in (0, MIB):
            with self.subTest(max_chunk_bytes=max_chunk_bytes), ServerProcess() as server:
                with Client(server.address, options=[]) as stock:
                    digest, total, rows = hashlib.sha256(), 0, 0
                    for block in call_chunks(stock, request, max_chunk_bytes=max_chunk_bytes):
                        self.assertEqual(block.first_row, rows)
                        digest.update(block.data)
                        total += len(block.data)
                        rows += block.row_count
                    self.assertTrue(block.last)
                    self.assertEqual((rows, total), (4096 * 128, 134_217_728))
                    with self.assertRaises(grpc.RpcError):
                        stock.call_message(request)
                with Client(server.address) as raised:
                    whole = raised.call_message(request).embeddings.data
                self.assertEqual(digest.digest(), hashlib.sha256(whole).digest())


class ChunksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(ServerProcess())
        cls.client = cls.enterClassContext(Client(cls.server.address))

    def test_taking_up_a_call_gives_the_rest(self):
        request = batch(3, 100)
        whole = self.client.call_message(request).embeddings.data
        first, *_ = call_chunks(self.client, request, max_chunk_bytes=1000)

        rest = call_chunks(self.client, request, first_row=first.row_count)

        self.assertEqual(first.data + b"".join(block.data for block in rest), whole)

    def test_header_tells_of_the_whole(self):
        (block,) = call_chunks(self.client, batch(2, 3))

        self.assertEqual(list(block.header.shape), [2, 3, 64])
        self.assertEqual((block.header.total_rows, block.header.total_bytes), (6, 6 * 64 * 4))
        self.assertEqual(block.header.data_type, tensor_pb2.DATA_TYPE_FLOAT32)

    def test_refusal_is_that_of_embed(self):
        fields = {"model": "demo-learned", "ids": [1, 999], "batch_size": 1, "sequence_length": 2}
        expected = refusal_of(self.client.call, **fields)

        refusal = refusal_of(lambda: list(call_chunks(self.client, embedding_pb2.EmbedRequest(**fields))))

        self.assertEqual((refusal.code, refusal.reason, refusal.text), (expected.code, expected.reason, expected.text))

    def test_bytes_that_are_no_request_are_refused(self):
        send = self.client.channel.unary_stream(
            "/embd.v1.EmbeddingService/EmbedChunks", request_serializer=None, response_deserializer=None
        )

        refusal = refusal_of(lambda: list(send(b"\xff" * 20, timeout=WAIT_SECONDS)))

        self.assertEqual((refusal.code, refusal.reason), (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_REQUEST"))

    def test_capability_is_told(self):
        stub = diagnostics_pb2_grpc.DiagnosticsServiceStub(self.client.channel)

        info = stub.GetServerInfo(diagnostics_pb2.GetServerInfoRequest(), timeout=WAIT_SECONDS)

        self.assertIn("embed_chunks", info.capabilities)


class KilledReaderTest(unittest.TestCase):
    def test_what_it_held_is_given_back(self):
        with ServerProcess(config=IN_FLIGHT) as server, Client(server.address) as client:
            with subprocess.Popen(
                [sys.executable, "-c", STALLED_READER, server.address],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            ) as reader:
                self.assertEqual(reader.stdout.readline(), "started\n")
                self.await_outcome(client, refused=True)

                reader.send_signal(signal.SIGKILL)
                reader.wait()

            self.await_outcome(client, refused=False)

    def await_outcome(self, client, refused):
        """Returns once a call that needs most of what may be in flight is refused, or served."""
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            try:
                client.call_message(batch(192, 128))  # 6 MiB of 8
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
                if refused:
                    return
            else:
                if not refused:
                    return
            time.sleep(0.05)
        raise AssertionError(f"the call was not {'refused' if refused else 'served'}")


if __name__ == "__main__":
    unittest.main()
