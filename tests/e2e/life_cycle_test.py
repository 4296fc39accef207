"""The process as those see it who look after it: signals, reloads, the service manager, a successor."""

import contextlib
import json
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

import grpc
import numpy as np

from support.calls import Client
from support.server_process import ServerProcess, binary, clean_environment
from support.stubs import embedding_pb2, embedding_pb2_grpc

REQUEST = {"model": "m", "ids": [1, 2, 3], "batch_size": 1, "sequence_length": 3}
LONG_LOAD = "{ name: big, token: { seeded: { vocab_size: 1000000, embedding_dim: 256 } } }"  # seconds


def seeded(name, seed):
    return f"  - {{ name: {name}, token: {{ seeded: {{ vocab_size: 100, embedding_dim: 8, seed: {seed} }} }} }}\n"


def configuration(*models, server="log: { level: info }"):
    return f"server: {{ {server} }}\nmodels:\n" + "".join(models)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.config = self.folder / "embd.yaml"

    def serve(self, text, **options):
        self.config.write_text(text, encoding="utf-8")
        return self.enterContext(ServerProcess("--config", str(self.config), **options))

    def embdctl(self, server, *arguments):
        return subprocess.run(
            [binary("embdctl"), "--server", server.address, *arguments],
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


class ReloadBySignalTest(Folder):
    def test_sighup_follows_the_file(self):
        server = self.serve(configuration(seeded("m", 1), seeded("gone", 1)))
        with Client(server.address) as client:
            before = client.call(**REQUEST)
            self.config.write_text(configuration(seeded("m", 2), seeded("new", 1), server="log: { level: debug }"))
            server.send_signal(signal.SIGHUP)
            server.await_log("configuration read again: 1 loaded, 1 loaded anew, 1 unloaded, 0 unchanged, 0 failed")
            server.await_log("now in force: server.log.level")

            after = client.call(**REQUEST)
            self.assertEqual((before.generation, after.generation), (1, 2))
            self.assertNotEqual(before.checksum, after.checksum)
            self.assertTrue(client.call(**{**REQUEST, "model": "new"}).HasField("embeddings"))
            with self.assertRaises(grpc.RpcError) as raised:
                client.call(**{**REQUEST, "model": "gone"})
            self.assertEqual(raised.exception.code(), grpc.StatusCode.NOT_FOUND)
            server.await_log(" debug request ")

    def test_syntax_error_changes_nothing_and_names_the_line(self):
        server = self.serve(configuration(seeded("m", 1)))
        self.config.write_text(configuration(seeded("m", 2), "  - [\n"))
        server.send_signal(signal.SIGHUP)
        server.await_log(f"nothing is changed, for the configuration cannot be followed: {self.config}:")

        with Client(server.address) as client:
            self.assertEqual(client.call(**REQUEST).generation, 1)

    def test_damaged_file_keeps_the_old_table(self):
        table = self.folder / "t.npy"
        np.save(table, np.ones((10, 4), np.float32))
        server = self.serve(configuration(f"  - {{ name: m, token: {{ file: {table} }} }}\n"))
        table.write_bytes(b"no table at all")
        server.send_signal(signal.SIGHUP)
        server.await_log("not loaded, what was served still is")

        with Client(server.address) as client:
            self.assertEqual(client.embed("m", [[1]]).tolist(), [[[1, 1, 1, 1]]])
        np.save(self.folder / "next.npy", np.full((10, 4), 2, np.float32))
        (self.folder / "next.npy").rename(table)
        server.send_signal(signal.SIGHUP)
        server.await_log("1 loaded anew")
        with Client(server.address) as client:
            self.assertEqual(client.embed("m", [[1]]).tolist(), [[[2, 2, 2, 2]]])


class ReloadByCommandTest(Folder):
    def test_reload_load_and_unload_tell_what_happened(self):
        server = self.serve(configuration(seeded("m", 1), server="model_control: explicit"))
        self.config.write_text(
            configuration(seeded("m", 2), "  - { name: bad, path: /nonexistent.npy }\n", server="model_control: none")
        )

        reload = self.embdctl(server, "reload", "--output", "json")
        self.assertEqual(reload.returncode, 1, reload.stderr)
        report = json.loads(reload.stdout)
        self.assertEqual([model["name"] for model in report["reloaded"]], ["m"])
        self.assertEqual(report["failures"][0]["model"], "bad")
        self.assertIn("/nonexistent.npy", report["failures"][0]["message"])
        self.assertEqual(report["needs_restart"], ["server.model_control"])

        self.assertEqual(self.embdctl(server, "unload", "m").returncode, 0)
        self.assertEqual(self.embdctl(server, "health", "--service", "m").returncode, 1)
        load = self.embdctl(server, "load", "m")
        self.assertEqual(load.returncode, 0, load.stderr)
        self.assertRegex(load.stdout, r"m +loaded +3 ")

    def test_bad_configuration_exits_with_one_and_the_line(self):
        server = self.serve(configuration(seeded("m", 1)))
        self.config.write_text("models: 7\n")

        reload = self.embdctl(server, "reload")

        self.assertEqual(reload.returncode, 1)
        self.assertIn(f"{self.config}:1", reload.stderr)


class RollingRestartTest(unittest.TestCase):
    """Two servers; one stops while callers call. They balance by health, and repeat nothing."""

    SERVICE_CONFIG = json.dumps(
        {
            "loadBalancingConfig": [{"round_robin": {}}],
            "healthCheckConfig": {"serviceName": ""},
        }
    )

    def test_no_call_fails(self):
        failures, stop = [], threading.Event()

        def call(channel):
            stub = embedding_pb2_grpc.EmbeddingServiceStub(channel)
            while not stop.is_set():
                try:
                    stub.Embed(embedding_pb2.EmbedRequest(**{**REQUEST, "model": "demo-learned"}), timeout=60)
                except grpc.RpcError as error:
                    failures.append(error)

        with ServerProcess() as leaving, ServerProcess() as staying, contextlib.ExitStack() as stack:
            options = [("grpc.service_config", self.SERVICE_CONFIG), ("grpc.enable_retries", 0)]
            options.append(("grpc.use_local_subchannel_pool", 1))
            target = f"ipv4:{leaving.address},{staying.address}"
            channels = [stack.enter_context(grpc.insecure_channel(target, options=options)) for _ in range(8)]
            for channel in channels:
                grpc.channel_ready_future(channel).result(timeout=60)
            callers = [threading.Thread(target=call, args=(channel,)) for channel in channels]
            for caller in callers:
                caller.start()
            leaving.send_signal(signal.SIGTERM)
            self.assertEqual(leaving.await_end(), 0)
            stop.set()
            for caller in callers:
                caller.join()

        self.assertEqual(failures, [])


class StartAndStopTest(Folder):
    def start(self, text, **environment):
        self.config.write_text(text, encoding="utf-8")
        self.ready = self.folder / "ready.json"
        command = [binary("embd"), "--config", str(self.config), "--listen", f"unix:{self.folder}/s"]
        process = subprocess.Popen(
            [*command, "--ready-file", str(self.ready), "--metrics-listen", "none"],
            env={**clean_environment(), **environment},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        for line in process.stderr:
            if "listening on" in line:
                return process
        self.fail("it does not listen")

    def test_sigterm_while_loading_ends_with_zero_before_the_load_does(self):
        process = self.start("models: [ " + LONG_LOAD + " ]\n")
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)

        self.assertEqual(process.returncode, 0, log)
        self.assertNotIn("loaded model", log)
        self.assertFalse(self.ready.exists())

    def test_second_signal_ends_at_once(self):
        process = self.start(configuration(seeded("m", 1)))
        with Client(f"unix:{self.folder}/s") as client:
            requests = threading.Event()

            def items():
                yield embedding_pb2.EmbedStreamRequest(request=embedding_pb2.EmbedRequest(**REQUEST))
                requests.wait(60)

            stream = client.embedding.EmbedStream(items(), timeout=60)
            next(stream)
            process.send_signal(signal.SIGTERM)
            for line in process.stderr:
                if "draining" in line:
                    break
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=60), -signal.SIGTERM)
            requests.set()

    def test_required_model_that_cannot_be_loaded_ends_with_one(self):
        process = self.start("models: [ { name: m, path: /nonexistent.npy } ]\n")
        _, log = process.communicate(timeout=60)

        self.assertEqual(process.returncode, 1)
        self.assertIn("/nonexistent.npy", log)

    def test_service_manager_is_told(self):
        for name in str(self.folder / "notify"), f"@embd-e2e-{self.folder.name}":
            with self.subTest(name), contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as manager:
                manager.bind(name.replace("@", "\0"))
                manager.settimeout(60)
                process = self.start(configuration(seeded("m", 1)), NOTIFY_SOCKET=name)
                self.assertEqual(manager.recv(4096), b"STATUS=loading models")
                self.assertIn(b"READY=1", manager.recv(4096).splitlines())
                process.send_signal(signal.SIGHUP)
                reloading = manager.recv(4096).splitlines()
                self.assertEqual(reloading[0], b"RELOADING=1")
                self.assertRegex(reloading[1], rb"^MONOTONIC_USEC=[0-9]+$")
                self.assertIn(b"READY=1", manager.recv(4096).splitlines())
                process.send_signal(signal.SIGTERM)
                self.assertIn(b"STOPPING=1", manager.recv(4096).splitlines())
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
