"""A real table, GloVe's 341,479 words: rows through two clients and the command line equal numpy's, bit for bit."""

import json
import math
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

from support.calls import Client, refusal_of
from support.glove import DIM, WORDS, glove_files
from support.node_modules import node_modules
from support.server_process import ServerProcess, binary, clean_environment
from support.stubs import diagnostics_pb2, diagnostics_pb2_grpc, nearest_pb2

NPY, VOCAB = glove_files()
NODE_MODULES = node_modules()
ROWS = 4096
QUERIES = 1000
CONFIG = f"""
models:
  - name: glove
    token: {{ file: "{NPY}", vocabulary: "{VOCAB}" }}
"""


def setUpModule():
    global server, client, table, words, ids
    server = unittest.enterModuleContext(ServerProcess(config=CONFIG))
    client = unittest.enterModuleContext(Client(server.address))
    table = np.load(NPY, mmap_mode="r")
    words = VOCAB.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    ids = np.random.default_rng(2026).integers(0, WORDS, ROWS)
    ids[:2] = 0, WORDS - 1


def embdctl(*arguments):
    return subprocess.run(
        [binary("embdctl"), "--server", server.address, *arguments],
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def exact_cosines(query, candidates):
    """Of a row with others, summed without rounding before the division, so that equal rows have equal cosines."""
    one = table[query].astype(np.float64)
    return np.array(
        [
            math.fsum(one * row) / (math.sqrt(math.fsum(one * one)) * math.sqrt(math.fsum(row * row)))
            for row in table[candidates].astype(np.float64)
        ]
    )


class GloveTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_random_rows_through_python(self):
        self.assertEqual(client.embed("glove", ids.reshape(1, ROWS))[0].tobytes(), table[ids].tobytes())

    def test_random_rows_through_node(self):
        (self.folder / "ids").write_bytes(ids.astype("<i4").tobytes())

        subprocess.run(
            ["node", pathlib.Path(__file__).with_name("node_rows.js"), "glove", "ids", "out"],
            cwd=self.folder,
            env={**os.environ, "EMBD_ADDRESS": server.address, "NODE_PATH": str(NODE_MODULES)},
            timeout=120,
            check=True,
        )

        self.assertEqual((self.folder / "out").read_bytes(), table[ids].tobytes())

    def test_words_are_found_at_their_rows(self):
        stub = diagnostics_pb2_grpc.DiagnosticsServiceStub(client.channel)

        reply = stub.LookUpTokens(
            diagnostics_pb2.LookUpTokensRequest(model="glove", tokens=[words[i] for i in ids]), timeout=60
        )

        self.assertEqual(list(reply.ids), ids.tolist())

    def test_unknown_word_is_named(self):
        stub = diagnostics_pb2_grpc.DiagnosticsServiceStub(client.channel)
        request = diagnostics_pb2.LookUpTokensRequest(model="glove", tokens=["king", "no such word"])

        refusal = refusal_of(stub.LookUpTokens, request, timeout=60)

        self.assertEqual(refusal.reason, "UNKNOWN_TOKEN")
        self.assertIn('"no such word"', refusal.text)

    def test_command_line_embeds_words(self):
        out = self.folder / "F.npy"

        done = embdctl("embed", "glove", "--tokens", "king queen", "--out", str(out))

        self.assertEqual(done.returncode, 0, done.stderr)
        expected = table[[words.index("king"), words.index("queen")]]
        rows = np.load(out)
        self.assertEqual((rows.dtype, rows.shape[-1]), (np.dtype("<f4"), DIM))
        self.assertEqual(rows.tobytes(), expected.tobytes())

    def nearest(self, **request):
        stub = diagnostics_pb2_grpc.DiagnosticsServiceStub(client.channel)
        return stub.NearestTokens(nearest_pb2.NearestTokensRequest(model="glove", **request), timeout=120)

    def test_nearest_rows_are_those_of_a_search_in_float64(self):
        asked = ids[:QUERIES]
        rows = table / np.linalg.norm(table, axis=1, keepdims=True)
        found = np.array(self.nearest(ids=asked.tolist()).ids).reshape(QUERIES, 10)

        for first in range(0, QUERIES, 50):
            last = first + 50
            scores = rows[asked[first:last]] @ rows.T
            for query, row, ids_found in zip(asked[first:last], scores, found[first:last], strict=True):
                row[query] = -np.inf
                candidates = np.flatnonzero(row >= row[ids_found].min() - 1e-5)  # float32 errs by less
                order = candidates[np.lexsort((candidates, -exact_cosines(query, candidates)))][:10]
                np.testing.assert_array_equal(ids_found, order, words[query])

    def test_nearest_words_of_king_make_sense(self):
        reply = self.nearest(tokens=["king"], with_tokens=True)

        self.assertLessEqual({"prince", "queen"}, set(reply.tokens[:3]))

    def test_king_less_man_plus_woman_is_queen(self):
        analogy = nearest_pb2.Analogy(plus_tokens=["king", "woman"], minus_tokens=["man"])

        reply = self.nearest(analogies=[analogy], with_tokens=True)

        self.assertEqual(reply.tokens[0], "queen")
        self.assertFalse({"king", "man", "woman"} & set(reply.tokens))

    def test_command_line_finds_words_and_analogies(self):
        nearest = embdctl("nearest", "glove", "--token", "king", "-k", "3")
        analogy = embdctl("--output", "json", "analogy", "glove", "king", "-", "man", "+", "woman", "-k", "1")
        similar = embdctl("--output", "json", "similar", "glove", "king", "queen")

        self.assertIn("prince", nearest.stdout, nearest.stderr)
        self.assertEqual(json.loads(analogy.stdout)["queries"][0]["rows"][0]["token"], "queen", analogy.stderr)
        king, queen = (table[words.index(word)].astype(np.float64) for word in ("king", "queen"))
        expected = king @ queen / np.linalg.norm(king) / np.linalg.norm(queen)
        self.assertAlmostEqual(json.loads(similar.stdout)["cosine"], expected, 12, similar.stderr)


if __name__ == "__main__":
    unittest.main()
