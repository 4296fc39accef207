"""What a table takes: its elements, and hardly more."""

import pathlib
import unittest

from support.calls import Client
from support.server_process import ServerProcess
from support.stubs import diagnostics_pb2, diagnostics_pb2_grpc

V, D = 200_000, 128
BYTES = V * D * 4
CONFIG = "models: [ {{ name: m, token: {{ seeded: {{ vocab_size: {}, embedding_dim: {} }} }} }} ]"


def resident_bytes(server):
    for line in pathlib.Path(f"/proc/{server.pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


class TableMemoryTest(unittest.TestCase):
    def test_a_table_takes_its_elements_and_at_most_a_tenth_more(self):
        with ServerProcess(config=CONFIG.format(1, 1)) as small, ServerProcess(config=CONFIG.format(V, D)) as large:
            with Client(large.address) as client:
                stub = diagnostics_pb2_grpc.DiagnosticsServiceStub(client.channel)
                (table,) = stub.DescribeModel(diagnostics_pb2.DescribeModelRequest(model="m"), timeout=60).tables
                self.assertEqual((table.element_count, table.byte_size), (V * D, BYTES))
                client.embed("m", [[0, V - 1]])
            taken = resident_bytes(large) - resident_bytes(small)

        self.assertGreaterEqual(taken, BYTES)
        self.assertLessEqual(taken, 1.1 * BYTES)


if __name__ == "__main__":
    unittest.main()
