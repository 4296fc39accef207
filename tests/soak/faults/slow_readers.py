"""Clients that call, and read nothing of what comes back."""

import socket

from faults.fault import Fault, eventually
from support.http2 import call
from support.stubs import embedding_pb2

READERS = 15
HELD_BYTES = 6 << 20  # a third of them hold 1.6 MB each, until max_stall ends them


class SlowReaders(Fault):
    """Others are served; what the calls hold is given back."""

    name = "slow readers"

    def inject(self):
        host, _, port = self.soak.server.address.rpartition(":")
        sockets = []
        try:
            for number in range(READERS):
                sockets.append(socket.create_connection((host, int(port)), timeout=60))
                sockets[-1].sendall(self._call(number))
            self.expect(eventually(lambda: self._in_flight() > HELD_BYTES), "the replies do not wait for their readers")
            self.expect(eventually(lambda: self._in_flight() < HELD_BYTES / 2), "what stalled calls hold stays held")
            self.expect_calls(self.soak.load, 40)
        finally:
            for each in sockets:
                each.close()

    def _in_flight(self):
        return self.soak.gauge("embd_inflight_bytes")

    @staticmethod
    def _call(number):
        whole = embedding_pb2.EmbedRequest(
            model="wide", part=embedding_pb2.PART_POSITION, batch_size=8, sequence_length=200)
        ways = (
            (b"Embed", whole),
            (b"EmbedChunks", embedding_pb2.EmbedChunksRequest(request=whole)),
            (b"EmbedStream", embedding_pb2.EmbedStreamRequest(request=whole)),
        )
        method, request = ways[number % len(ways)]
        return call(method, request.SerializeToString())
