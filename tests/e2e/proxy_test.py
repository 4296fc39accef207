"""Large messages through HAProxy as docker/haproxy configures it: no hop on the way has a smaller limit than its ends."""

import unittest

import grpc
import numpy as np

from support.calls import PART_TOKEN, Client, refusal_of
from support.haproxy import Haproxy, free_port
from support.server_process import ServerProcess
from support.stubs import tensor_pb2

CONFIG = """
models:
  - name: wide
    token: { seeded: { vocab_size: 320, embedding_dim: 1024, seed: 11 } }
  - name: narrow
    token: { seeded: { vocab_size: 320, embedding_dim: 1, seed: 11 } }
"""
MIB = 1 << 20


def raw_ids(batch_size, sequence_length):
    ids = np.random.default_rng(1).integers(0, 320, (batch_size, sequence_length), np.int64)
    return tensor_pb2.Tensor(data_type=tensor_pb2.DATA_TYPE_INT64, shape=ids.shape, data=ids.tobytes())


class ProxyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ports = [(free_port(), free_port()) for _ in range(2)]
        servers = []
        for port, ready_port in ports:
            addresses = ["--listen", f"127.0.0.1:{port}", "--metrics-listen", f"127.0.0.1:{ready_port}"]
            servers.append(cls.enterClassContext(ServerProcess(*addresses, config=CONFIG)))
        cls.proxy = cls.enterClassContext(Haproxy(ports))
        cls.proxy.await_states(True, True)
        cls.direct = cls.enterClassContext(Client(f"127.0.0.1:{ports[0][0]}"))
        cls.through = cls.enterClassContext(Client(cls.proxy.address))

    def test_reply_of_40_mebibytes_passes(self):
        request = {"model": "wide", "ids_tensor": raw_ids(20, 512), "part": PART_TOKEN}

        reply = self.through.call(**request)

        self.assertEqual(len(reply.embeddings.data), 40 * MIB)
        self.assertEqual(reply, self.direct.call(**request))

    def test_request_of_20_megabytes_passes(self):
        request = {"model": "narrow", "ids_tensor": raw_ids(10, 250_000), "part": PART_TOKEN}

        reply = self.through.call(**request)

        self.assertEqual(len(reply.embeddings.data), 10_000_000)
        self.assertEqual(reply, self.direct.call(**request))

    def test_the_limit_that_is_left_is_the_clients_own(self):
        request = {"model": "wide", "ids_tensor": raw_ids(20, 512), "part": PART_TOKEN}
        with Client(self.proxy.address, options=[]) as stock:
            refusal = refusal_of(stock.call, **request)

            self.assertEqual(refusal.code, grpc.StatusCode.RESOURCE_EXHAUSTED)
            self.assertIn("4194304", refusal.text)
            self.assertFalse(refusal.has_details, "the refusal is another's, not the client's")
            self.assertEqual(stock.embed("wide", [[1]]).shape, (1, 1, 1024))


if __name__ == "__main__":
    unittest.main()
