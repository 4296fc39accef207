"""A BERT folder through the Open Inference Protocol, by a Node client that knows its proto alone, against numpy."""

import pathlib
import tempfile
import unittest

import numpy as np

from architectures.expected import Batch
from architectures.fleet import configuration
from architectures.oip_values import folders, half_ulp_range
from support.node_modules import node_modules
from support.oip_node import node_embeddings
from support.server_process import ServerProcess

NODE_MODULES = node_modules()
B, T = 3, 6


class OipNodeTest(unittest.TestCase):
    def test_layer_norm_is_numpys_within_half_an_ulp(self):
        bert, _ = folders()
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="embd-oip-")))
        bert.write(folder)
        server = self.enterContext(ServerProcess(config=configuration(folder, [bert])))
        random = np.random.default_rng(2026)
        ids, types = random.integers(1, bert.vocab_size, (B, T)), random.integers(0, 2, (B, T))
        low, high = half_ulp_range(bert.stage.composed(Batch(ids, types=types)))

        for form in ("raw", "typed"):
            for dtype in ("<i4", "<i8"):
                with self.subTest(form=form, dtype=dtype):
                    inputs = {"token_type_ids": types.astype(dtype), "input_ids": ids.astype(dtype)}

                    values = node_embeddings(server.address, NODE_MODULES, bert.name, inputs, form)

                    values = values.reshape(low.shape)
                    self.assertTrue(np.all((low <= values) & (values <= high)))


if __name__ == "__main__":
    unittest.main()
