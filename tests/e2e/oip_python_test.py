"""Model folders through the Open Inference Protocol, by a Python client that knows its proto alone, against numpy."""

import pathlib
import tempfile
import unittest

import grpc
import numpy as np

from architectures.expected import Batch
from architectures.fleet import configuration
from architectures.oip_values import allowed_range, folders, half_ulp_range
from support.oip import RAW, TYPED, OipClient, request_of
from support.server_process import ServerProcess

B, T = 3, 6
FORMS = [(form, typed_output) for form in (RAW, TYPED) for typed_output in (False, True)]
DTYPES = (np.int32, np.int64)


def setUpModule():
    global client, bert, gpt2
    folder = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory(prefix="embd-oip-")))
    bert, gpt2 = folders()
    for checkpoint in (bert, gpt2):
        checkpoint.write(folder)
    server = unittest.enterModuleContext(ServerProcess(config=configuration(folder, [bert, gpt2])))
    client = unittest.enterModuleContext(OipClient(server.address))


def random_ids(seed, below):
    return np.random.default_rng(seed).integers(1, below, (B, T))


class ValueTest(unittest.TestCase):
    def for_each_form(self, check):
        for form, typed_output in FORMS:
            for dtype in DTYPES:
                with self.subTest(form=form, typed_output=typed_output, dtype=dtype.__name__):
                    check(form, typed_output, dtype)

    def assert_within(self, actual, low, high):
        self.assertEqual(actual.shape, low.shape)
        self.assertTrue(np.all((low <= actual) & (actual <= high)), np.abs(actual - low).max())

    def test_sums_are_numpys_to_the_bit(self):
        ids, positions = random_ids(1, gpt2.vocab_size), random_ids(2, gpt2.context)
        expected = gpt2.stage.composed(Batch(ids, position_ids=positions)).values

        def check(form, typed_output, dtype):
            inputs = {"input_ids": ids.astype(dtype), "position_ids": positions.astype(dtype)}
            outputs = client.infer(gpt2.name, inputs, form, typed_output=typed_output)
            self.assertEqual(outputs["embeddings"].tobytes(), expected.tobytes())

        self.for_each_form(check)

    def test_layer_norm_is_numpys_within_half_an_ulp(self):
        ids, types = random_ids(3, bert.vocab_size), random_ids(4, 3) - 1
        low, high = half_ulp_range(bert.stage.composed(Batch(ids, types=types)))

        def check(form, typed_output, dtype):
            inputs = {"input_ids": ids.astype(dtype), "token_type_ids": types.astype(dtype)}
            outputs = client.infer(bert.name, inputs, form, typed_output=typed_output)
            self.assert_within(outputs["embeddings"], low, high)

        self.for_each_form(check)

    def test_every_output_comes_in_the_order_asked_for(self):
        ids = random_ids(5, bert.vocab_size)
        batch = Batch(ids)
        names = ["position_embeddings", "embeddings", "token_embeddings"]

        for form, typed_output in FORMS:
            with self.subTest(form=form, typed_output=typed_output):
                outputs = client.infer(bert.name, {"input_ids": ids}, form, names, typed_output=typed_output)

                self.assertEqual(list(outputs), names)
                self.assert_within(outputs["embeddings"], *half_ulp_range(bert.stage.composed(batch)))
                self.assertEqual(outputs["token_embeddings"].tobytes(), bert.stage.tokens(batch).tobytes())
                positions = bert.stage.positions(batch).values
                self.assertEqual(outputs["position_embeddings"].tobytes(), positions.tobytes())

    def test_a_mask_numbers_positions(self):
        ids = random_ids(6, gpt2.vocab_size)
        mask = (np.arange(T) >= np.array([[0], [2], [5]])).astype(np.int64)
        expected = gpt2.stage.composed(Batch(ids, mask=mask)).values

        outputs = client.infer(gpt2.name, {"attention_mask": mask.astype(np.int32), "input_ids": ids})

        self.assertEqual(outputs["embeddings"].tobytes(), expected.tobytes())

    def test_vectors_stand_in_for_ids(self):
        vectors = np.random.default_rng(7).standard_normal((B, T, gpt2.dim)).astype(np.float32)
        expected = gpt2.stage.composed(Batch(embeds=vectors)).values

        for form, typed_output in FORMS:
            with self.subTest(form=form, typed_output=typed_output):
                outputs = client.infer(gpt2.name, {"inputs_embeds": vectors}, form, typed_output=typed_output)
                self.assertEqual(outputs["embeddings"].tobytes(), expected.tobytes())

    def test_narrow_outputs_are_rounded_once(self):
        for checkpoint in (bert, gpt2):
            ids = random_ids(8, checkpoint.vocab_size)
            expected = checkpoint.stage.composed(Batch(ids))
            for datatype in ("FP16", "BF16"):
                with self.subTest(model=checkpoint.name, datatype=datatype):
                    outputs = client.infer(checkpoint.name, {"input_ids": ids}, output_datatype=datatype)
                    low, high = allowed_range(expected, datatype)
                    self.assert_within(outputs["embeddings"].astype(np.float32), low, high)

    def test_narrow_outputs_have_no_typed_form(self):
        request = request_of(gpt2.name, {"input_ids": random_ids(9, 5)}, typed_output=True, output_datatype="FP16")

        with self.assertRaises(grpc.RpcError) as raised:
            client.stub.ModelInfer(request, timeout=60)

        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIn("typed_output", raised.exception.details())


if __name__ == "__main__":
    unittest.main()
