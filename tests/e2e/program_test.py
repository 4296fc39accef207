"""The program itself: how it starts, says where it listens, refuses to start, and stops."""

import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

import grpc

from support.calls import Client
from support.server_process import ServerProcess, binary, clean_environment
from support.stubs import embedding_pb2

REQUEST = {"model": "demo-learned", "ids": [1, 2, 3], "batch_size": 1, "sequence_length": 3}


def embd(*arguments, **environment):
    """Runs the program to its end, which must come by itself."""
    return subprocess.run(
        [binary("embd"), *arguments],
        env={**clean_environment(), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


class StartTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def assert_refuses_to_start(self, done, *parts):
        self.assertGreater(done.returncode, 0, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_version_is_told(self):
        done = embd("--version")

        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\d+\.\d+\.\d+")

    def test_unix_socket_serves(self):
        path = self.folder / "embd.sock"

        with ServerProcess("--listen", f"unix:{path}") as server, Client(f"unix:{path}") as client:
            with Client(server.address) as over_tcp:
                self.assertEqual(client.call(**REQUEST), over_tcp.call(**REQUEST))

    def test_good_configuration_is_checked_without_serving(self):
        config = self.folder / "embd.yaml"
        config.write_text("models: [ { name: a, token: { seeded: { vocab_size: 8, embedding_dim: 4 } } } ]\n")

        done = embd("--config", str(config), "--check-config")

        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "configuration is valid: 1 model\n")

    def test_number_of_models_of_a_good_configuration_is_told(self):
        done = embd("--check-config", "--model", "a=/nonexistent.npy", "--model", "b=/nonexistent.npy")

        self.assertEqual(done.stdout, "configuration is valid: 2 models\n")

    def test_bad_configuration_names_file_line_and_key(self):
        config = self.folder / "embd.yaml"
        config.write_text("models:\n  - name: a\n    token: { seeded: { vocab_size: x, embedding_dim: 4 } }\n")

        self.assert_refuses_to_start(
            embd("--config", str(config)), f"{config}:3", "models[0].token.seeded.vocab_size", '"x"'
        )

    def test_missing_table_names_the_file(self):
        self.assert_refuses_to_start(
            embd("--listen", "127.0.0.1:0", "--model", f"a={self.folder}/none.npy"), f"{self.folder}/none.npy"
        )

    def test_port_that_is_taken_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]

            self.assert_refuses_to_start(embd("--listen", address), address)

    def test_port_that_is_taken_gets_one_line_for_the_refusal(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            done = embd("--listen", "127.0.0.1:%d" % taken.getsockname()[1], "--log-level", "error")

        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_grpc_talks_where_that_is_asked_for(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            done = embd("--listen", address, "--log-level", "error", GRPC_VERBOSITY="ERROR")

        self.assertIn("Address already in use", done.stderr)

    def test_ready_file_of_an_earlier_server_is_removed_before_loading(self):
        ready = self.folder / "ready.json"
        ready.write_text('{"pid": 1, "listen": ["127.0.0.1:1"]}')

        embd("--ready-file", str(ready), "--model", f"a={self.folder}/none.npy")

        self.assertFalse(ready.exists())

    def test_table_that_cannot_fit_is_refused_at_once(self):
        config = self.folder / "embd.yaml"
        config.write_text(
            "models: [ { name: vast, token: { seeded: { vocab_size: 268435456, embedding_dim: 1024 } } } ]\n"
        )

        self.assert_refuses_to_start(embd("--config", str(config)), 'model "vast"', "1099511627776 bytes")

    def test_address_in_the_environment_is_used(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]

            self.assert_refuses_to_start(embd(EMBD_LISTEN=address), address)

    def test_unknown_flag_is_refused(self):
        done = embd("--no-such-flag")

        self.assert_refuses_to_start(done, "--no-such-flag")
        self.assertTrue(done.stderr.startswith("embd: "), done.stderr)

    def test_unknown_simd_target_is_refused_with_those_there_are(self):
        self.assert_refuses_to_start(embd("--check-config", EMBD_SIMD="mmx"), "EMBD_SIMD", '"mmx"', "scalar")


class LogTest(unittest.TestCase):
    def test_debug_level_writes_one_line_a_request(self):
        with ServerProcess("--log-level", "debug") as server, Client(server.address) as client:
            client.call(**REQUEST)
            with self.assertRaises(grpc.RpcError):
                client.call(**{**REQUEST, "ids": [1, 2, 999]})
            server.await_log("ids[0][2] = 999")
            lines = [line for line in server.log().splitlines() if " debug request " in line]

        self.assertEqual(len(lines), 2, lines)
        self.assertRegex(lines[0], r"rpc=Embed .*model=demo-learned batch_size=1 sequence_length=3 .*code=OK$")
        self.assertRegex(lines[1], r"rpc=Embed .*model=demo-learned .*code=INVALID_ARGUMENT error=")

    def test_default_level_writes_no_line_a_request(self):
        with ServerProcess() as server, Client(server.address) as client:
            client.call(**REQUEST)
            log = server.log()

        self.assertNotIn("rpc=Embed", log)


class SimdTest(unittest.TestCase):
    def test_capped_target_is_told_and_gives_the_same_bytes(self):
        replies = {}
        for target in "", "scalar":
            with ServerProcess(environment={"EMBD_SIMD": target}) as server, Client(server.address) as client:
                replies[target] = client.call(**REQUEST, output_type=2)
                log = server.log()
        self.assertIn("SIMD target scalar", log)
        self.assertEqual(replies[""], replies["scalar"])


class SignalTest(unittest.TestCase):
    def test_sigpipe_is_ignored(self):
        with ServerProcess() as server, Client(server.address) as client:
            server.send_signal(signal.SIGPIPE)
            for _ in range(3):
                client.call(**REQUEST)

            self.assertTrue(server.is_running())


class StopTest(unittest.TestCase):
    def test_ready_file_is_removed_after_an_orderly_stop(self):
        with ServerProcess() as server:
            self.assertTrue(server.ready_file.exists())
            server.send_signal(signal.SIGTERM)
            server.await_end()

            self.assertFalse(server.ready_file.exists())

    def test_sigterm_lets_an_open_stream_finish(self):
        requests = threading.Semaphore(1)
        last = threading.Event()

        def items():
            while requests.acquire(timeout=60) and not last.is_set():
                yield embedding_pb2.EmbedStreamRequest(request=embedding_pb2.EmbedRequest(**REQUEST))

        with ServerProcess() as server, Client(server.address) as client:
            stream = client.embedding.EmbedStream(items(), timeout=60)
            next(stream)
            server.send_signal(signal.SIGTERM)
            server.await_refusing()
            requests.release()
            answer = next(stream)
            last.set()
            requests.release()

            self.assertEqual(answer.WhichOneof("result"), "response")
            self.assertEqual(list(stream), [])
            self.assertEqual(server.await_end(), 0)

    def test_new_calls_after_sigterm_are_unavailable(self):
        with ServerProcess() as server, Client(server.address) as client:
            client.call(**REQUEST)
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.await_end(), 0)

            with self.assertRaises(grpc.RpcError) as raised:
                client.call(**REQUEST)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.UNAVAILABLE)

    def test_log_has_no_error_after_a_quiet_life(self):
        with ServerProcess() as server, Client(server.address) as client:
            client.call(**REQUEST)
            server.send_signal(signal.SIGTERM)
            server.await_end()

            self.assertIsNone(re.search(r"\b(error|critical|E\d{4} )\b", server.log()), server.log())


if __name__ == "__main__":
    unittest.main()
