"""A real table, GloVe's 341,479 words: rows through two clients and the command line equal numpy's, bit for bit."""

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
from support.stubs import diagnostics_pb2, diagnostics_pb2_grpc

NPY, VOCAB = glove_files()
NODE_MODULES = node_modules()
ROWS = 4096
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

    def test_nearest_words_of_king_make_sense(self):
        subset = client.embed("glove", np.arange(20_000).reshape(20, 1000)).reshape(-1, DIM).astype(np.float64)
        subset /= np.linalg.norm(subset, axis=1, keepdims=True)

        order = np.argsort(-(subset @ subset[words.index("king")]))

        self.assertEqual(words[order[0]], "king")
        self.assertLessEqual({"prince", "queen"}, {words[i] for i in order[1:4]})


if __name__ == "__main__":
    unittest.main()
