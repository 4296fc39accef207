"""Callers that behave badly, all at the same time: memory stays bounded, others are served, and nothing stays behind."""

import re
import socket
import threading
import time
import unittest
import urllib.request

import grpc

from support.calls import DEADLINE_SECONDS, EMBED, UNLIMITED, Client
from support.http2 import PREFACE, call, frame
from support.process_figures import resident_mib
from support.server_process import ServerProcess
from support.stubs import embedding_pb2

MIB = 1 << 20
IN_FLIGHT_MIB = 1024  # 34 of the stalled calls hold 14 MiB each, 16 streams up to twice that
REQUESTS_MIB = 64
# Beside what the limits bound: the program, its tables, gRPC's own for 1,100 connections, and what an allocator keeps.
REST_MIB = 256
CONNECTIONS = 1000
STALLED = 50
HALF_OPEN = 100
CANCELLED = 10_000
CONFIG = f"""
server:
  limits: {{ max_bytes_in_flight: {IN_FLIGHT_MIB}MiB, max_request_bytes_in_flight: {REQUESTS_MIB}MiB, max_stall: 3s }}
  connections: {{ handshake_timeout: 3s }}
models:
  - name: wide
    token: {{ seeded: {{ vocab_size: 320, embedding_dim: 768, seed: 11 }} }}
    position: {{ learned: {{ seeded: {{ max_context_length: 512 }} }} }}
"""
GAUGES = ("embd_inflight_bytes", "embd_inflight_request_bytes", "embd_inflight_calls")


def large_request():
    return embedding_pb2.EmbedRequest(
        model="wide", part=embedding_pb2.PART_POSITION, batch_size=8, sequence_length=512)


def stalled_calls():
    """The bytes of a call that is never read, by each of three ways in turn."""
    whole = large_request()
    ways = [
        call(b"Embed", whole.SerializeToString()),
        call(b"EmbedChunks", embedding_pb2.EmbedChunksRequest(request=whole).SerializeToString()),
        call(b"EmbedStream", embedding_pb2.EmbedStreamRequest(request=whole).SerializeToString()),
    ]
    return [ways[i % 3] for i in range(STALLED)]


class Others:
    """A caller like any other, who goes on until `stop`."""

    def __init__(self, address):
        self.seconds, self.failures = [], []
        self._address = address
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        with Client(self._address) as client:
            while not self._stop.is_set():
                start = time.monotonic()
                try:
                    client.positions("wide", 1, 16)
                except grpc.RpcError as error:
                    self.failures.append(f"{error.code().name}: {error.details()}")
                self.seconds.append(time.monotonic() - start)

    def stop(self):
        self._stop.set()
        self._thread.join()


def flood_with_cancelled_calls(address):
    request = large_request()
    with grpc.insecure_channel(address, options=UNLIMITED) as channel:
        embed = channel.unary_unary(
            EMBED,
            request_serializer=embedding_pb2.EmbedRequest.SerializeToString,
            response_deserializer=None)
        for _ in range(CANCELLED // 100):
            under_way = [embed.future(request, timeout=DEADLINE_SECONDS) for _ in range(100)]
            for each in under_way:
                each.cancel()


def gauge(server, name):
    with urllib.request.urlopen(f"http://{server.metrics_address}/metrics", timeout=DEADLINE_SECONDS) as answer:
        return float(re.search(rf"^{name} (\S+)$", answer.read().decode(), re.MULTILINE)[1])


class AbuseTest(unittest.TestCase):
    def test_memory_is_bounded_and_others_are_served(self):
        with ServerProcess(config=CONFIG) as server:
            host, _, port = server.address.rpartition(":")
            sockets = []
            others = Others(server.address)
            most = [resident_mib(server.pid)]

            def connect(first_bytes):
                sockets.append(socket.create_connection((host, int(port)), timeout=DEADLINE_SECONDS))
                sockets[-1].sendall(first_bytes)

            for _ in range(CONNECTIONS):
                connect(PREFACE + frame(4, 0, 0, b""))
            for i in range(HALF_OPEN):
                connect(PREFACE[: i % 20])
            for first_bytes in stalled_calls():
                connect(first_bytes)
                most.append(resident_mib(server.pid))
            flood_with_cancelled_calls(server.address)
            most.append(resident_mib(server.pid))
            self.await_room(server.address)
            others.stop()
            self.await_nothing_in_flight(server)
            for each in sockets:
                each.close()

            self.assertTrue(server.is_running())
            latency = sorted(others.seconds)
            print(f"RSS {max(most):.0f} MiB at most; {len(latency)} other calls, p50 "
                  f"{latency[len(latency) // 2] * 1e3:.1f} ms, p99 {latency[len(latency) * 99 // 100] * 1e3:.1f} ms")
            self.assertLess(max(most), IN_FLIGHT_MIB + REQUESTS_MIB + REST_MIB)
            self.assertGreater(len(latency), 100)
            self.assertEqual(others.failures, [])

    def await_nothing_in_flight(self, server):
        """Returns once the server counts no request and no byte any more, with all those connections still open."""
        end = time.monotonic() + DEADLINE_SECONDS
        while any(in_flight := [gauge(server, name) for name in GAUGES]):
            self.assertLess(time.monotonic(), end, in_flight)
            time.sleep(0.05)

    def await_room(self, address):
        """Returns once a reply is possible that needs nearly all of max_bytes_in_flight."""
        request = embedding_pb2.EmbedRequest(
            model="wide", part=embedding_pb2.PART_POSITION, batch_size=400, sequence_length=512)  # 600 MiB
        with grpc.insecure_channel(address, options=UNLIMITED) as channel:
            embed = channel.unary_unary(EMBED, request_serializer=embedding_pb2.EmbedRequest.SerializeToString)
            end = time.monotonic() + DEADLINE_SECONDS
            while True:
                try:
                    embed(request, timeout=DEADLINE_SECONDS)
                    return
                except grpc.RpcError as error:
                    self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED, error.details())
                    self.assertLess(time.monotonic(), end, error.details())
                    time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
