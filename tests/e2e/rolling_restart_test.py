"""Two servers are restarted one after the other under load: through HAProxy, and by clients that know both."""

import collections
import contextlib
import threading
import unittest

import grpc

from support.calls import Client
from support.haproxy import Haproxy, free_port
from support.server_process import ServerProcess

CALLERS = 8
CALLS_BETWEEN = 200
WAIT_SECONDS = 60
REQUEST = {"model": "demo-learned", "ids": [1, 2, 3], "batch_size": 1, "sequence_length": 3}
# What embd's own client library asks of gRPC.
BALANCING = [
    (
        "grpc.service_config",
        '{"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""},'
        '"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.05s",'
        '"maxBackoff": "1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}',
    ),
    ("grpc.enable_retries", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
]

# Watches the server's health, as embd's client library does, and tries each call once.
WATCHING = [
    (
        "grpc.service_config",
        '{"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}}',
    ),
]


class Load:
    """Callers that ask, each over a connection of its own, until the block ends."""

    def __init__(self, address, options=None):
        self._address, self._options = address, options
        self._stop = threading.Event()
        self._counted = threading.Condition()
        self._threads = [threading.Thread(target=self._ask) for _ in range(CALLERS)]
        self.answers, self.failures = 0, collections.Counter()

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _ask(self):
        with Client(self._address, self._options) as client:
            while not self._stop.is_set():
                failure = None
                try:
                    client.call(**REQUEST)
                except grpc.RpcError as error:
                    failure = f"{error.code().name}: {error.details()}"
                with self._counted:
                    self.answers += 1
                    if failure:
                        self.failures[failure] += 1
                    self._counted.notify_all()

    def go_on(self):
        """Returns once more calls have been answered or have failed."""
        with self._counted:
            end = self.answers + CALLS_BETWEEN
            if not self._counted.wait_for(lambda: self.answers >= end, timeout=WAIT_SECONDS):
                raise RuntimeError(f"{self.answers} answers, and no more within {WAIT_SECONDS} s")


class RollingRestartTest(unittest.TestCase):
    def setUp(self):
        self.ports = [(free_port(), free_port()) for _ in range(2)]
        self.lives = [self.enterContext(contextlib.ExitStack()) for _ in self.ports]
        for number in range(2):
            self.start(number)

    def start(self, number):
        port, ready_port = self.ports[number]
        server = ServerProcess("--listen", f"127.0.0.1:{port}", "--metrics-listen", f"127.0.0.1:{ready_port}")
        self.lives[number].enter_context(server)

    def stop(self, number):
        """SIGTERM, and the end with exit code 0."""
        self.lives[number].close()

    def test_no_call_fails_through_haproxy(self):
        self.roll_behind_haproxy(None)

    def test_no_call_fails_through_haproxy_for_clients_that_watch_the_health(self):
        self.roll_behind_haproxy(WATCHING)

    def roll_behind_haproxy(self, options):
        with Haproxy(self.ports) as proxy:
            proxy.await_states(True, True)
            with Load(proxy.address, options) as load:
                for number in range(2):
                    load.go_on()
                    self.stop(number)
                    proxy.await_states(number != 0, number != 1)
                    load.go_on()
                    self.start(number)
                    proxy.await_states(True, True)
                load.go_on()

        self.assertEqual(load.failures, {})

    def test_no_call_fails_for_clients_that_balance_by_themselves(self):
        with Load("ipv4:" + ",".join(f"127.0.0.1:{port}" for port, _ in self.ports), BALANCING) as load:
            for number in range(2):
                load.go_on()
                self.stop(number)
                load.go_on()
                self.start(number)
                with Client(f"127.0.0.1:{self.ports[number][0]}") as client:
                    client.call(**REQUEST)
                load.go_on()

        self.assertEqual(load.failures, {})


if __name__ == "__main__":
    unittest.main()
