"""A server that loads for a while: alive at once, ready only when it can answer, and clear about it in between."""

import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import grpc

from support.calls import Client, refusal_of
from support.haproxy import free_port
from support.server_process import binary, clean_environment
from support.stubs import health_pb2, health_pb2_grpc

MODEL = "big"
CONFIG = f"models: [ {{ name: {MODEL}, token: {{ seeded: {{ vocab_size: 500000, embedding_dim: 256 }} }} }} ]\n"
REQUEST = {"model": MODEL, "ids": [1, 2, 3], "batch_size": 1, "sequence_length": 3}
SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
WAIT_SECONDS = 120


class SlowStartTest(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="embd-e2e-")))
        (folder / "embd.yaml").write_text(CONFIG, encoding="utf-8")
        self.pages = f"http://127.0.0.1:{free_port()}"
        self.process = subprocess.Popen(
            [binary("embd"), "--config", str(folder / "embd.yaml"), "--listen", f"unix:{folder}/embd.sock",
             "--metrics-listen", self.pages.removeprefix("http://")],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=clean_environment())
        self.addCleanup(self.process.stderr.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.client = self.enterContext(Client(f"unix:{folder}/embd.sock"))
        self.health = health_pb2_grpc.HealthStub(self.client.channel)

    def await_listening(self):
        for line in self.process.stderr:
            if "listening on" in line:
                return
        self.fail("it does not listen")

    def page(self, path):
        try:
            with urllib.request.urlopen(self.pages + path, timeout=WAIT_SECONDS) as answer:
                return answer.status
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code

    def state(self, name):
        return self.health.Check(health_pb2.HealthCheckRequest(service=name), timeout=WAIT_SECONDS).status

    def test_probes_and_callers_are_told_while_it_loads_and_after(self):
        self.await_listening()

        self.assertEqual((self.page("/healthz"), self.page("/readyz")), (200, 503))
        self.assertEqual((self.state(""), self.state(MODEL)), (NOT_SERVING, NOT_SERVING))
        refusal = refusal_of(self.client.call, **REQUEST)
        self.assertEqual((refusal.code, refusal.reason), (grpc.StatusCode.UNAVAILABLE, "MODEL_LOADING"))
        self.assertEqual(self.page("/readyz"), 503, "it was loaded before it could be looked at")

        watch = self.health.Watch(health_pb2.HealthCheckRequest(), timeout=WAIT_SECONDS)
        seen = [next(watch).status]
        while seen[-1] != SERVING:
            self.assertEqual(self.page("/healthz"), 200)
            seen.append(next(watch).status)
        watch.cancel()
        self.assertEqual(self.state(MODEL), SERVING)
        self.assertEqual(self.await_page("/readyz"), 200)
        self.assertTrue(self.client.call(**REQUEST).HasField("embeddings"))

        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(timeout=WAIT_SECONDS), 0)

    def await_page(self, path):
        """Its status, once it is 200 or the wait is over."""
        end = time.monotonic() + WAIT_SECONDS
        while (status := self.page(path)) != 200 and time.monotonic() < end:
            time.sleep(0.02)
        return status


if __name__ == "__main__":
    unittest.main()
