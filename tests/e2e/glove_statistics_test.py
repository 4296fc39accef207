"""What a server says of a real table's numbers, GloVe's 341,479 words, is what numpy computes in float64."""

import unittest

import numpy as np

from support.calls import Client
from support.glove import DIM, WORDS, glove_files
from support.server_process import ServerProcess
from support.stubs import diagnostics_pb2_grpc, statistics_pb2

NPY, _ = glove_files()
CONFIG = f"""
models:
  - name: glove
    token: {{ file: "{NPY}" }}
"""


def setUpModule():
    global stub, table
    server = unittest.enterModuleContext(ServerProcess(config=CONFIG))
    client = unittest.enterModuleContext(Client(server.address))
    stub = diagnostics_pb2_grpc.DiagnosticsServiceStub(client.channel)
    table = np.load(NPY).astype(np.float64)


class GloveStatisticsTest(unittest.TestCase):
    def assert_close(self, found, expected):
        self.assertLessEqual(abs(found - expected), 1e-12 * abs(expected), (found, expected))

    def test_figures_equal_numpys(self):
        reply = stub.TableStatistics(
            statistics_pb2.TableStatisticsRequest(model="glove", histogram_bins=50), timeout=60
        )

        norms = np.sqrt((table * table).sum(axis=1))
        self.assertEqual((reply.rows, reply.embedding_dim), (WORDS, DIM))
        self.assert_close(reply.mean, table.mean())
        self.assert_close(reply.std, table.std())
        self.assertEqual((reply.min, reply.max), (table.min(), table.max()))
        self.assert_close(reply.norm_mean, norms.mean())
        self.assert_close(reply.norm_std, norms.std())
        self.assert_close(reply.norm_min, norms.min())
        self.assert_close(reply.norm_max, norms.max())
        counts, edges = np.histogram(norms, bins=50)
        np.testing.assert_allclose(reply.histogram_edges, edges, rtol=1e-12)
        self.assertEqual(list(reply.histogram_counts), counts.tolist())
        self.assertEqual((reply.nan_count, reply.inf_count, reply.zero_rows), (0, 0, int((norms == 0).sum())))

    def test_duplicates_are_those_that_numpy_finds(self):
        reply = stub.TableStatistics(statistics_pb2.TableStatisticsRequest(model="glove"), timeout=60)

        rows = np.load(NPY)
        _, first, inverse = np.unique(
            rows.view(np.dtype((np.void, rows.itemsize * DIM))).ravel(), return_index=True, return_inverse=True
        )
        earlier = first[inverse]
        duplicates = np.flatnonzero(earlier != np.arange(WORDS))
        self.assertEqual(reply.duplicate_rows, len(duplicates))
        self.assertEqual(list(reply.first_duplicate_rows), duplicates[:16].tolist())
        self.assertEqual(list(reply.duplicates_of), earlier[duplicates[:16]].tolist())

    def test_cosines_equal_numpys(self):
        ids = np.random.default_rng(2026).integers(0, WORDS, 1024)

        reply = stub.CosineSimilarities(
            statistics_pb2.CosineSimilaritiesRequest(model="glove", row_ids=ids), timeout=60
        )

        rows = table[ids] / np.linalg.norm(table[ids], axis=1, keepdims=True)
        found = np.frombuffer(reply.cosines.data, "<f4").reshape(1024, 1024)
        np.testing.assert_allclose(found, rows @ rows.T, rtol=0, atol=1e-7)


if __name__ == "__main__":
    unittest.main()
