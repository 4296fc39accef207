"""What the program tells of itself: its pages over HTTP, and its log."""

import json
import socket
import unittest
import urllib.error
import urllib.request

import grpc

from support.calls import DEADLINE_SECONDS, Client
from support.server_process import ServerProcess
from support.stubs import embedding_pb2

REQUEST = {"model": "demo-learned", "ids": [1, 2, 3], "batch_size": 1, "sequence_length": 3}
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def fetch(address, path, method="GET"):
    """Status and body."""
    request = urllib.request.Request(f"http://{address}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def embed(client, *metadata, **changed):
    request = embedding_pb2.EmbedRequest(**{**REQUEST, **changed})
    return client.embedding.Embed(request, timeout=DEADLINE_SECONDS, metadata=metadata)


class PagesTest(unittest.TestCase):
    def test_pages_are_served_and_nothing_else(self):
        with ServerProcess() as server:
            address = server.metrics_address

            self.assertEqual(fetch(address, "/healthz"), (200, "ok\n"))
            self.assertEqual(fetch(address, "/readyz"), (200, "ready\n"))
            self.assertEqual(fetch(address, "/metrics", "HEAD"), (200, ""))
            self.assertIn("\nembd_ready 1\n", fetch(address, "/metrics")[1])
            for path in "/", "/metrics/", "/etc/passwd", "/..", "/%2e%2e/":
                self.assertEqual(fetch(address, path)[0], 404, path)
            self.assertEqual(fetch(address, "/metrics", "DELETE")[0], 405)

    def test_every_address_is_served_and_told(self):
        with ServerProcess("--metrics-listen", "127.0.0.1:0", "--metrics-listen", "localhost:0") as server:
            addresses = json.loads(server.ready_file.read_text())["metrics"]

            self.assertEqual(len(set(addresses)), 2, addresses)
            for address in addresses:
                self.assertEqual(fetch(address, "/healthz"), (200, "ok\n"))

    def test_none_serves_no_pages(self):
        with ServerProcess("--metrics-listen", "none") as server:
            self.assertEqual(json.loads(server.ready_file.read_text())["metrics"], [])

    def test_address_that_is_taken_stops_the_start(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]

            with self.assertRaisesRegex(RuntimeError, f'cannot listen on "{address}"'):
                ServerProcess("--metrics-listen", address).__enter__()

    def test_silent_connections_delay_neither_probes_nor_calls(self):
        with ServerProcess() as server, Client(server.address) as client:
            host, _, port = server.metrics_address.rpartition(":")
            silent = [self.enterContext(socket.create_connection((host, int(port)))) for _ in range(200)]
            for each in silent[:100]:
                each.sendall(b"GET /metrics HTTP/1.1\r\n")

            self.assertEqual(fetch(server.metrics_address, "/healthz"), (200, "ok\n"))
            self.assertTrue(embed(client).HasField("embeddings"))


class LogTest(unittest.TestCase):
    def lines(self, server):
        """The lines of requests so far; every line must be JSON."""
        lines = [json.loads(line) for line in server.log().splitlines()]
        return [line for line in lines if line["message"] == "request"]

    def test_json_has_one_object_a_line_with_the_ids_of_the_call(self):
        names = (("x-request-id", "abc-1"), ("traceparent", f"00-{TRACE}-{SPAN}-01"))
        with ServerProcess("--log-format", "json", "--log-level", "debug") as server, Client(server.address) as client:
            embed(client, *names)
            with self.assertRaises(grpc.RpcError):
                embed(client, model='no "such"\n\u00e9')
            server.await_log('"code":"NOT_FOUND"')
            good, bad = self.lines(server)

        self.assertRegex(good.pop("time"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertRegex(good.pop("peer"), r"^ipv4:127\.0\.0\.1:\d+$")
        self.assertGreater(good.pop("us"), 0)
        self.assertGreater(good.pop("request_bytes"), 0)
        self.assertGreater(good.pop("reply_bytes"), 3 * 64 * 4)
        told = {"request_id": "abc-1", "trace_id": TRACE, "span_id": SPAN, "rpc": "Embed", "model": "demo-learned"}
        rest = {"level": "debug", "message": "request", "batch_size": 1, "sequence_length": 3, "code": "OK"}
        self.assertEqual(good, {**told, **rest})
        self.assertEqual(bad["model"], 'no "such"\n\u00e9')
        self.assertIn("NOT_FOUND", bad["code"])
        self.assertRegex(bad["request_id"], r"^[0-9a-f]{16}$")
        self.assertNotIn("trace_id", bad)

    def test_ids_that_are_malformed_are_not_taken_over(self):
        with ServerProcess("--log-format", "json", "--log-level", "debug") as server, Client(server.address) as client:
            embed(client, ("x-request-id", "a" * 129), ("traceparent", f"00-{TRACE.upper()}-{SPAN}-01"))
            server.await_log('"message":"request"')
            (line,) = self.lines(server)

        self.assertRegex(line["request_id"], r"^[0-9a-f]{16}$")
        self.assertNotIn("trace_id", line)

    def test_tokens_are_not_logged(self):
        with ServerProcess("--log-level", "trace") as server, Client(server.address) as client:
            embed(client, ("authorization", "Bearer s3cret-token"), ("x-request-id", "mine"))
            server.await_log("request_id=mine")
            log = server.log()

        self.assertNotIn("s3cret", log)

    def test_share_of_requests_is_logged_at_info(self):
        calls = 400
        for share, least, most in (1, calls, calls), (0.5, 140, 260):  # six standard deviations
            config = f"server: {{ log: {{ access_sample: {share}, format: json }} }}"
            with ServerProcess(config=config) as server, Client(server.address) as client:
                for _ in range(calls):
                    embed(client)
                lines = self.lines(server)

            self.assertTrue(least <= len(lines) <= most, len(lines))
            self.assertEqual({line["level"] for line in lines}, {"info"})


if __name__ == "__main__":
    unittest.main()
