"""The Open Inference Protocol from Python when calls go wrong: limits of the client, deadlines, cancellation."""

import contextlib
import signal
import threading
import unittest

import grpc
import numpy as np

from support.oip import DEADLINE_SECONDS, OipClient, pb, request_of
from support.server_process import ServerProcess

MODEL = "demo-sinusoidal"
DIM = 64
SMALL = np.arange(6).reshape(2, 3)
FOUR_MEGABYTES = 4 << 20
# 16 MiB of reply: more than a client takes that has not said otherwise, and long enough under way to be given up.
LARGE = np.zeros((32, 2048), np.int64)


def setUpModule():
    global server, client
    server = unittest.enterModuleContext(ServerProcess(config=CONFIG))
    client = unittest.enterModuleContext(OipClient(server.address))


CONFIG = f"""
models:
  - name: {MODEL}
    token: {{ seeded: {{ vocab_size: 320, embedding_dim: {DIM}, std: 0.02, seed: 11 }} }}
    position: {{ sinusoidal: {{ max_context_length: 2048, base: 10000 }} }}
"""


class OipLimitsTest(unittest.TestCase):
    def assert_serves(self):
        outputs = client.infer(MODEL, {"input_ids": SMALL})
        self.assertEqual(outputs["embeddings"].shape, (*SMALL.shape, DIM))

    def assert_fails(self, code, call, *arguments, **fields):
        with self.assertRaises(grpc.RpcError) as raised:
            call(*arguments, **fields)
        self.assertEqual(raised.exception.code(), code)
        return raised.exception.details()

    def test_a_client_that_takes_four_megabytes_says_so_and_the_server_goes_on(self):
        with OipClient(server.address, options=[]) as limited:
            fits = limited.infer(MODEL, {"input_ids": LARGE[:7]})
            text = self.assert_fails(
                grpc.StatusCode.RESOURCE_EXHAUSTED, limited.infer, MODEL, {"input_ids": LARGE}
            )

        self.assertLess(fits["embeddings"].nbytes, FOUR_MEGABYTES)
        self.assertRegex(text, "Received message larger than max")
        self.assert_serves()

    def test_every_call_has_its_deadline(self):
        self.assert_serves()
        server.send_signal(signal.SIGSTOP)
        resume = self.enterContext(contextlib.ExitStack())
        resume.callback(server.send_signal, signal.SIGCONT)
        for method in pb.DESCRIPTOR.services_by_name["GRPCInferenceService"].methods:
            with self.subTest(method=method.name):
                request = getattr(pb, method.input_type.name)()
                call = getattr(client.stub, method.name)
                answer = (lambda *given, **more: next(call(iter(given), **more))) if method.client_streaming else call

                text = self.assert_fails(grpc.StatusCode.DEADLINE_EXCEEDED, answer, request, timeout=0.05)

                self.assertEqual(text, "Deadline Exceeded")
        resume.close()
        self.assert_serves()

    def test_a_stream_that_is_left_open_has_its_deadline(self):
        end = threading.Event()
        never = iter(lambda: end.wait() or None, True)

        text = self.assert_fails(
            grpc.StatusCode.DEADLINE_EXCEEDED, next, client.stub.ModelStreamInfer(never, timeout=0.1)
        )

        end.set()
        self.assertEqual(text, "Deadline Exceeded")
        self.assert_serves()

    def test_the_timeout_of_a_request_is_a_deadline(self):
        request = request_of(MODEL, {"input_ids": LARGE}, timeout=1)

        text = self.assert_fails(
            grpc.StatusCode.DEADLINE_EXCEEDED, client.stub.ModelInfer, request, timeout=DEADLINE_SECONDS
        )

        self.assertEqual(text, "the timeout of the request has passed")
        self.assert_serves()

    def test_a_call_that_is_cancelled_says_so(self):
        call = client.stub.ModelInfer.future(request_of(MODEL, {"input_ids": LARGE}), timeout=DEADLINE_SECONDS)

        self.assertTrue(call.cancel())

        self.assertEqual(call.code(), grpc.StatusCode.CANCELLED)
        self.assertEqual(call.details(), "Locally cancelled by application!")
        self.assert_serves()

    def test_a_stream_that_is_cancelled_says_so(self):
        end = threading.Event()

        def requests():
            yield request_of(MODEL, {"input_ids": SMALL})
            end.wait()

        answers = client.stub.ModelStreamInfer(requests(), timeout=DEADLINE_SECONDS)
        self.assertEqual(next(answers).error_message, "")

        answers.cancel()

        end.set()
        text = self.assert_fails(grpc.StatusCode.CANCELLED, next, answers)
        self.assertEqual(text, "Locally cancelled by application!")
        self.assert_serves()


if __name__ == "__main__":
    unittest.main()
