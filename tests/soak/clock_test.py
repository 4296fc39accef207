"""Waiting and retries go by a clock that nobody sets: the wall clock of the process jumps meanwhile."""

import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "e2e"), str(pathlib.Path(__file__).resolve().parent)]

from clock import Clock  # noqa: E402
from faults.fault import eventually  # noqa: E402
from support.calls import Client  # noqa: E402
from support.haproxy import free_port  # noqa: E402
from support.server_process import ServerProcess, binary, clean_environment  # noqa: E402

HOUR = 3600
CONFIG = """
server: { drain_delay: 2s }
models:
  - name: m
    token: { seeded: { vocab_size: 100, embedding_dim: 8 } }
"""


def is_ready(server):
    try:
        with urllib.request.urlopen(f"http://{server.metrics_address}/readyz", timeout=60):
            return True
    except urllib.error.HTTPError:
        return False


class ClockTest(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="embd-clock-")))
        self.clock = Clock(folder / "offset")

    def test_a_clock_that_is_set_back_does_not_hold_off_the_end(self):
        with ServerProcess(config=CONFIG, environment=self.clock.environment) as server:
            with Client(server.address) as client:
                client.embed("m", [[1]])  # a server that was called waits the whole delay
                server.send_signal(signal.SIGTERM)
                self.assertTrue(eventually(lambda: not is_ready(server)))
                self.clock.set(-HOUR)
            self.assertEqual(server.await_end(), 0)

    def test_a_clock_that_is_set_forward_does_not_end_a_call_that_is_tried_again(self):
        # A call whose very deadline is set while the clock jumps may still be too late; three in a row are not.
        self.assertIn("UNAVAILABLE", [self.code_of_a_call_while_the_clock_runs_away() for _ in range(3)])

    def code_of_a_call_while_the_clock_runs_away(self):
        over = threading.Event()

        def run_away():
            hours = 0
            while not over.wait(0.03):
                hours += 1
                self.clock.set(hours * HOUR)

        thread = threading.Thread(target=run_away)
        thread.start()
        try:
            done = subprocess.run(
                [binary("embdctl"), "--server", f"127.0.0.1:{free_port()}", "--timeout", "60", "models"],
                env={**clean_environment(), **self.clock.environment},
                capture_output=True, text=True, timeout=120, check=False)
        finally:
            over.set()
            thread.join()
        self.assertEqual(done.returncode, 3, done.stderr)
        return "UNAVAILABLE" if "UNAVAILABLE" in done.stderr else done.stderr


if __name__ == "__main__":
    unittest.main()
