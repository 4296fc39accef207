"""Connections that last: clients that ping, and those that a server asks to connect anew."""

import contextlib
import json
import subprocess
import threading
import time
import unittest

import grpc

from support.calls import Client
from support.counting_proxy import CountingProxy
from support.server_process import ServerProcess, binary, clean_environment

REQUEST = {"model": "demo-learned", "ids": [1, 2, 3], "batch_size": 1, "sequence_length": 3}
# gRPC pings no more often than every 10 s, which is as often as a server takes unless its configuration says otherwise.
PINGING = [
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
]
IDLE_SECONDS = 65  # a server ends a connection at the third ping that comes too early
PING_BYTES = 17
STRICT = "server: { connections: { min_ping_interval: 60s } }"
SHORT_LIVED = "server: { connections: { max_age: 2s, max_age_grace: 20s } }"
CALLING_SECONDS = 9


class PingingClientTest(unittest.TestCase):
    def test_a_ping_every_ten_seconds_is_taken_by_default_and_not_where_that_is_too_often(self):
        with contextlib.ExitStack() as stack:
            both = []
            for config in None, STRICT:
                server = stack.enter_context(ServerProcess(config=config))
                proxy = stack.enter_context(CountingProxy(server.address))
                client = stack.enter_context(Client(proxy.address, options=PINGING))
                client.call(**REQUEST)
                both.append((proxy, client, proxy.byte_count))
            time.sleep(IDLE_SECONDS)
            (lenient, client, before), (strict, sent_away, _) = both

            self.assertGreaterEqual(lenient.byte_count - before, 5 * 2 * PING_BYTES, "the client has not pinged")
            for each in client, sent_away:
                each.call(**REQUEST)
            self.assertEqual(lenient.connection_count, 1)
            self.assertGreater(strict.connection_count, 1)


class AgingConnectionTest(unittest.TestCase):
    def setUp(self):
        server = self.enterContext(ServerProcess(config=SHORT_LIVED))
        self.proxy = self.enterContext(CountingProxy(server.address))

    def test_a_stock_client_connects_anew_and_no_call_fails(self):
        calls, failures, end = [], [], time.monotonic() + CALLING_SECONDS

        def ask():
            while time.monotonic() < end:
                try:
                    client.call(**REQUEST)
                    calls.append(1)
                except grpc.RpcError as error:
                    failures.append(f"{error.code().name}: {error.details()}")

        with Client(self.proxy.address) as client:
            callers = [threading.Thread(target=ask) for _ in range(4)]
            for caller in callers:
                caller.start()
            for caller in callers:
                caller.join()

        self.assertEqual(failures, [])
        self.assertGreater(len(calls), 100)
        self.assertGreaterEqual(self.proxy.connection_count, 3)

    def test_the_client_library_connects_anew_and_no_call_fails(self):
        done = subprocess.run(
            [binary("embdctl"), "--server", self.proxy.address, "--output", "json", "bench", "demo-learned",
             "--concurrency", "4", "--duration", str(CALLING_SECONDS)],
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["failed_calls"], 0, report)
        self.assertGreater(report["calls"], 100)
        self.assertGreaterEqual(self.proxy.connection_count, 3)


if __name__ == "__main__":
    unittest.main()
