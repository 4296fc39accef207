"""Limits of both sides: every configured limit bites, and a stock client's own limit does not hurt the server."""

import time
import unittest

import grpc

from support.calls import Client, Refusal, refusal_of
from support.server_process import ServerProcess
from support.stubs import diagnostics_pb2, diagnostics_pb2_grpc, embedding_pb2

EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
SMALL = """
server:
  limits: { max_request_bytes: 4KiB, max_response_bytes: 64KiB, max_batch_size: 8, max_sequence_length: 100 }
"""
IN_FLIGHT = "server: { limits: { max_bytes_in_flight: 8MiB } }"
WAIT_SECONDS = 60


def fields(batch_size, sequence_length, **more):
    ids = [1] * (batch_size * sequence_length)
    return {"model": "demo-rotary", "ids": ids, "batch_size": batch_size, "sequence_length": sequence_length, **more}


class StockClientTest(unittest.TestCase):
    """The 4 MB that every gRPC client takes unless told otherwise."""

    def test_larger_reply_fails_at_the_client_and_the_server_goes_on(self):
        with ServerProcess() as server, Client(server.address, options=[]) as client:
            for _ in range(3):
                refusal = refusal_of(client.call, **fields(256, 128))

                self.assertEqual(refusal.code, EXHAUSTED)
                self.assertIn("4194304", refusal.text)
                self.assertFalse(refusal.has_details, "the refusal is the server's, not the client's")
                client.call(**fields(1, 3))

    def test_raising_the_clients_limit_alone_is_enough(self):
        with ServerProcess() as server, Client(server.address) as client:
            reply = client.call(**fields(256, 128))

            self.assertEqual(len(reply.embeddings.data), 256 * 128 * 64 * 4)


class ConfiguredLimitsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server = cls.enterClassContext(ServerProcess(config=SMALL))
        cls.client = cls.enterClassContext(Client(server.address))

    def test_limits_are_told(self):
        stub = diagnostics_pb2_grpc.DiagnosticsServiceStub(self.client.channel)

        limits = stub.GetServerInfo(diagnostics_pb2.GetServerInfoRequest(), timeout=60).limits

        self.assertEqual((limits.max_request_bytes, limits.max_response_bytes), (4096, 65536))
        self.assertEqual((limits.max_batch_size, limits.max_sequence_length), (8, 100))

    def test_largest_request_inside_the_limits_is_served(self):
        reply = self.client.call(**fields(8, 32))

        self.assertEqual(len(reply.embeddings.data), 65536)

    def test_reply_above_the_limit_never_fits(self):
        refusal = refusal_of(self.client.call, **fields(8, 33))

        self.assertEqual((refusal.code, refusal.reason), (EXHAUSTED, "RESPONSE_TOO_LARGE"))
        self.assertIn("65536", refusal.text)
        self.assertEqual(refusal.trailers.get("grpc-retry-pushback-ms"), "-1")
        self.assertIsNone(refusal.retry_info)

    def test_request_above_the_limit_never_fits(self):
        refusal = refusal_of(self.client.call, **fields(1, 1, model="m" * 5000))

        self.assertEqual(refusal.code, EXHAUSTED)
        self.client.call(**fields(1, 1))

    def test_batch_above_the_limit_is_refused(self):
        refusal = refusal_of(self.client.call, **fields(9, 1))

        self.assertEqual((refusal.code, refusal.reason), (EXHAUSTED, "REQUEST_TOO_LARGE"))
        self.assertIn("batch_size", refusal.text)

    def test_sequence_above_the_limit_is_refused(self):
        refusal = refusal_of(self.client.call, **fields(1, 101))

        self.assertEqual((refusal.code, refusal.reason), (EXHAUSTED, "REQUEST_TOO_LARGE"))
        self.assertIn("sequence_length", refusal.text)


class BytesInFlightTest(unittest.TestCase):
    """A caller that does not read holds bytes; others are told to come again until it leaves."""

    def test_slow_reader_counts_until_it_leaves(self):
        held = embedding_pb2.EmbedStreamRequest(request=embedding_pb2.EmbedRequest(**fields(128, 128)))  # 4 MiB
        with ServerProcess(config=IN_FLIGHT) as server, Client(server.address) as client:
            stream = client.embedding.EmbedStream((held for _ in range(50)), timeout=WAIT_SECONDS)
            next(stream)

            refusal = self.await_refusal(client)
            self.assertEqual((refusal.code, refusal.reason), (EXHAUSTED, "OVERLOADED"))
            self.assertGreater(refusal.retry_info.retry_delay.ToMilliseconds(), 0)
            self.assertNotEqual(refusal.trailers.get("grpc-retry-pushback-ms"), "-1")

            stream.cancel()
            self.await_success(client)

    def await_refusal(self, client):
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            try:
                client.call(**fields(192, 128))  # 6 MiB: does not fit beside 4 MiB of 8
            except grpc.RpcError as error:
                return Refusal(error)
            time.sleep(0.05)
        raise AssertionError("the server took every call although a caller does not read")

    def await_success(self, client):
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            try:
                client.call(**fields(192, 128))
            except grpc.RpcError:
                time.sleep(0.05)
                continue
            return
        raise AssertionError("the bytes of a caller that left were not given back")


if __name__ == "__main__":
    unittest.main()
