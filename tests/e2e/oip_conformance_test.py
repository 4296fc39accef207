"""The models of Triton's examples, on the server under tests/oip, by a Python client that knows the protocol's proto."""

import unittest

import grpc
import numpy as np

from support.oip import DEADLINE_SECONDS, RAW, TYPED, OipClient, pb, request_of
from support.server_process import ServerProcess

LEFT = np.arange(32, dtype=np.int32).reshape(2, 16)
RIGHT = np.full((2, 16), np.iinfo(np.int32).max, np.int32)


def setUpModule():
    global client
    server = unittest.enterModuleContext(ServerProcess(program="conformance_server"))
    client = unittest.enterModuleContext(OipClient(server.address))


class ConformanceTest(unittest.TestCase):
    def refusal(self, request):
        with self.assertRaises(grpc.RpcError) as raised:
            client.stub.ModelInfer(request, timeout=DEADLINE_SECONDS)
        return raised.exception.code(), raised.exception.details()

    def test_simple_is_told_as_its_clients_expect(self):
        config = client.stub.ModelConfig(pb.ModelConfigRequest(name="simple"), timeout=DEADLINE_SECONDS).config

        self.assertEqual(config.max_batch_size, 8)
        self.assertEqual([(each.name, list(each.dims)) for each in config.input], [("INPUT0", [16]), ("INPUT1", [16])])
        self.assertEqual(
            [(each.name, list(each.dims)) for each in config.output], [("OUTPUT0", [16]), ("OUTPUT1", [16])]
        )

    def test_simple_adds_and_subtracts(self):
        for form in (RAW, TYPED):
            with self.subTest(form=form):
                outputs = client.infer("simple", {"INPUT1": RIGHT, "INPUT0": LEFT}, form)

                np.testing.assert_array_equal(outputs["OUTPUT0"], LEFT + RIGHT)
                np.testing.assert_array_equal(outputs["OUTPUT1"], LEFT - RIGHT)

    def test_simple_gives_the_one_output_that_is_asked_for(self):
        outputs = client.infer("simple", {"INPUT0": LEFT, "INPUT1": RIGHT}, outputs=["OUTPUT1"])

        self.assertEqual(list(outputs), ["OUTPUT1"])
        np.testing.assert_array_equal(outputs["OUTPUT1"], LEFT - RIGHT)

    def test_simple_has_no_typed_form(self):
        code, text = self.refusal(request_of("simple", {"INPUT0": LEFT, "INPUT1": RIGHT}, typed_output=True))

        self.assertEqual(code, grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIn("typed_output: 'INT32' elements of output 'OUTPUT0' have no typed form", text)

    def test_too_many_rows_are_refused(self):
        rows = np.zeros((9, 16), np.int32)

        _, text = self.refusal(request_of("simple", {"INPUT0": rows, "INPUT1": rows}))

        self.assertEqual(text, "inference request batch-size must be <= 8 for 'simple'")

    def test_inputs_of_two_batches_are_refused(self):
        code, text = self.refusal(request_of("simple", {"INPUT0": LEFT, "INPUT1": RIGHT[:1]}))

        self.assertEqual(code, grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIn("input 'INPUT1' has batch size 1, but 'INPUT0' has 2", text)

    def test_identity_keeps_every_bit(self):
        bits = np.array([[0, 1, 0x7F800000, 0xFF800000], [0x7FC00001, 0xFFA12345, 0x80000000, 0x3F800000]], np.uint32)

        outputs = client.infer("identity_fp32", {"INPUT0": bits.view(np.float32)})

        self.assertEqual(outputs["OUTPUT0"].tobytes(), bits.tobytes())

    def test_identity_of_nothing_is_nothing(self):
        for shape in ((0, 3), (3, 0), (0, 0)):
            with self.subTest(shape=shape):
                outputs = client.infer("identity_fp32", {"INPUT0": np.zeros(shape, np.float32)})

                self.assertEqual(outputs["OUTPUT0"].shape, shape)

    def test_the_demo_models_are_there_too(self):
        outputs = client.infer("demo-learned", {"input_ids": np.array([[1, 2, 3]])})

        self.assertEqual(outputs["embeddings"].shape, (1, 3, 64))


if __name__ == "__main__":
    unittest.main()
