"""GloVe's rows through the Open Inference Protocol, by Python and Node clients that know its proto alone, to the bit."""

import unittest

import numpy as np

from support.glove import DIM, WORDS, glove_files
from support.node_modules import node_modules
from support.oip import RAW, TYPED, OipClient
from support.oip_node import node_embeddings
from support.server_process import ServerProcess

NPY, VOCAB = glove_files()
NODE_MODULES = node_modules()
CONFIG = f"""
models:
  - name: glove
    token: {{ file: "{NPY}", vocabulary: "{VOCAB}" }}
"""
SHAPE = (8, 512)
FORMS = [(form, dtype) for form in (RAW, TYPED) for dtype in ("<i4", "<i8")]


def setUpModule():
    global server, ids, expected
    server = unittest.enterModuleContext(ServerProcess(config=CONFIG))
    ids = np.random.default_rng(2026).integers(0, WORDS, SHAPE)
    ids[0, :2] = 0, WORDS - 1
    expected = np.load(NPY, mmap_mode="r")[ids]


class OipGloveTest(unittest.TestCase):
    def test_rows_through_python(self):
        with OipClient(server.address) as client:
            for form, dtype in FORMS:
                with self.subTest(form=form, dtype=dtype):
                    outputs = client.infer("glove", {"input_ids": ids.astype(dtype)}, form, typed_output=form == TYPED)

                    self.assertEqual(outputs["embeddings"].shape, (*SHAPE, DIM))
                    self.assertEqual(outputs["embeddings"].tobytes(), expected.tobytes())

    def test_rows_through_node(self):
        for form, dtype in FORMS:
            with self.subTest(form=form, dtype=dtype):
                inputs = {"input_ids": ids.astype(dtype)}

                values = node_embeddings(server.address, NODE_MODULES, "glove", inputs, form)

                self.assertEqual(values.tobytes(), expected.tobytes())


if __name__ == "__main__":
    unittest.main()
