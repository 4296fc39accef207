"""embdctl bench against a live server: it makes the calls it says, and says what goes wrong."""

import json
import os
import pathlib
import pty
import signal
import subprocess
import tempfile
import unittest

import numpy as np
from support.server_process import ServerProcess, binary, clean_environment

D = 64
_ENDS_AT_ONCE = """
server: { drain_timeout: 0s }
models:
  - { name: small, token: { seeded: { vocab_size: 320, embedding_dim: 64 } } }
"""


class BenchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = ServerProcess()
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)

    def command(self, *arguments, address=None):
        address = address or self.server.address
        return [binary("embdctl"), "--server", address, "bench", "demo-learned", "--warmup", "0", *arguments]

    def bench(self, *arguments, address=None):
        return subprocess.run(
            self.command(*arguments, address=address),
            capture_output=True, text=True, timeout=120, check=False, env=clean_environment(),
        )  # fmt: skip

    def bench_json(self, *arguments, address=None):
        done = self.bench("--output", "json", *arguments, address=address)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def assert_consistent(self, result, calls, rows):
        self.assertEqual((result["calls"], result["failed_calls"], result["errors"]), (calls, 0, []))
        self.assertEqual((result["rows"], result["payload_bytes"]), (rows, rows * D * 4))
        self.assertAlmostEqual(result["calls_per_s"] * result["elapsed_s"], calls, places=3)
        latency = result["latency_ms"]
        in_order = [latency[name] for name in ("min", "p50", "p90", "p99", "p99_9", "max")]
        self.assertEqual(in_order, sorted(in_order))
        self.assertGreater(latency["min"], 0)
        self.assertLess(latency["max"], result["elapsed_s"] * 1000 + 1e-3)

    def test_each_mode_makes_the_calls_that_were_asked_for(self):
        for mode in "unary", "stream", "async":
            with self.subTest(mode=mode):
                result = self.bench_json(
                    "--mode", mode, "--calls", "3000", "--concurrency", "3", "--connections", "2", "--batch", "2"
                )

                self.assert_consistent(result, calls=3000, rows=3000 * 2 * 16)
                self.assertEqual(result["settings"]["mode"], mode)

    def test_open_loop_keeps_the_rate(self):
        for mode in "unary", "stream", "async":
            with self.subTest(mode=mode):
                result = self.bench_json("--mode", mode, "--rate", "200", "--duration", "1", "--concurrency", "2")

                self.assert_consistent(result, calls=200, rows=200 * 16)
                self.assertGreater(result["elapsed_s"], 0.99, "the last call is due after 0.995 s")
                self.assertEqual(result["open_loop"]["wanted_calls_per_s"], 200)

    def test_a_rate_beyond_reach_makes_calls_late_rather_than_fewer(self):
        result = self.bench_json("--rate", "10000000", "--calls", "2000")

        self.assert_consistent(result, calls=2000, rows=2000 * 16)
        open_loop = result["open_loop"]
        self.assertLess(open_loop["achieved_calls_per_s"], 10000000)
        self.assertGreater(open_loop["late_starts"], 0)
        self.assertGreater(open_loop["max_lateness_ms"], 1)
        self.assertGreater(result["latency_ms"]["max"], open_loop["max_lateness_ms"])

    def test_a_file_of_ids_is_cut_into_batches(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ids.npy"
            np.save(path, np.arange(100) % 320)
            result = self.bench_json("--ids-file", str(path), "--batch", "2", "--tokens", "8", "--calls", "50")
            np.save(path, np.full(100, 320))
            refused = self.bench("--ids-file", str(path), "--calls", "50")

        self.assert_consistent(result, calls=50, rows=50 * 16)
        self.assertEqual(result["settings"]["distinct_batches"], 6)
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("ids[0][0] = 320 is outside [0, 320)", refused.stderr)

    def test_the_report_names_what_was_measured(self):
        result = self.bench_json("--calls", "10")
        models = subprocess.run(
            [binary("embdctl"), "--server", self.server.address, "describe", "demo-learned", "--output", "json"],
            capture_output=True, text=True, timeout=60, check=True, env=clean_environment(),
        )  # fmt: skip

        described = json.loads(models.stdout)
        for key in "name", "version", "generation", "checksum", "vocab_size", "embedding_dim":
            self.assertEqual(result["model"][key], described[key])
        self.assertEqual(result["server"]["address"], self.server.address)
        self.assertEqual(result["client_version"], result["server"]["version"])

    def test_shared_memory_and_cache_make_the_calls_that_were_asked_for(self):
        with tempfile.TemporaryDirectory(prefix="embd-bench-") as folder:
            config = f"server: {{ shared_memory: {{ prefix: {folder}/embd-, max_regions: 3 }} }}\n"
            socket = f"unix:{folder}/socket"
            with ServerProcess("--listen", socket, config=config) as server:
                load = ("--calls", "300", "--concurrency", "3", "--shapes", "1x1,4x64,300x64")
                shared = self.bench_json("--shared-memory", *load, address=socket)
                over_tcp = self.bench("--shared-memory", *load, address=server.address)
                cached = self.bench_json("--cache", str(1 << 20), *load, address=socket)
            left = sorted(path.name for path in pathlib.Path(folder).iterdir())

        for result in shared, cached:
            self.assert_consistent(result, calls=300, rows=result["rows"])
        self.assertEqual(shared["settings"]["shared_memory"], True)
        self.assertEqual((over_tcp.returncode, over_tcp.stdout), (1, ""))
        self.assertIn("PERMISSION_DENIED (NOT_LOCAL)", over_tcp.stderr)
        self.assertEqual(left, [], "no file of a region stays behind")
        cache = cached["cache"]
        self.assertEqual((cache["composed_calls"], cache["plain_calls"], cache["rows_kept"]), (300, 0, 320))
        self.assertEqual(cache["hits"] + cache["misses"], cached["rows"])
        self.assertEqual(cache["bytes_delivered"], cached["payload_bytes"])
        self.assertGreater(cache["bytes_saved"], cached["payload_bytes"] * 0.9)

    def test_text_is_a_table_without_a_word_on_standard_error(self):
        done = self.bench("--calls", "100", "--rate", "5000")

        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in "calls/s", "rows/s", "MB/s", "late starts", "p99.9", "checksum":
            self.assertIn(word, done.stdout)

    def test_ctrl_c_prints_what_was_measured(self):
        for mode in "unary", "stream", "async":
            with self.subTest(mode=mode):
                controller, terminal = pty.openpty()
                running = subprocess.Popen(
                    self.command("--calls", "1000000000", "--output", "json", "--mode", mode),
                    stdout=subprocess.PIPE, stderr=terminal, text=True, env=clean_environment(),
                )  # fmt: skip
                os.close(terminal)
                progress = b""
                while b" calls/s" not in progress:  # it measures: the line is drawn after the first look
                    progress += os.read(controller, 4096)
                running.send_signal(signal.SIGINT)
                out, _ = running.communicate(timeout=60)
                os.close(controller)

                self.assertEqual(running.returncode, 0)
                result = json.loads(out)
                self.assertTrue(result["cut_short"])
                self.assertGreater(result["calls"], 0)
                self.assertEqual(result["failed_calls"], 0)

    def test_a_server_that_goes_away_is_errors_and_not_throughput(self):
        for mode in "unary", "stream", "async":
            with self.subTest(mode=mode):
                with ServerProcess(config=_ENDS_AT_ONCE) as server:
                    running = subprocess.Popen(
                        [binary("embdctl"), "--server", server.address, "bench", "small", "--warmup", "0"]
                        + ["--duration", "3", "--mode", mode, "--output", "json"],
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment(),
                    )  # fmt: skip
                    self.wait_for_calls(server, running)
                out, errors = running.communicate(timeout=60)

                self.assertEqual(running.returncode, 1)
                self.assertIn("calls failed", errors)
                result = json.loads(out)
                self.assertGreater(result["calls"], 0)
                codes = {error["code"] for error in result["errors"]}
                self.assertIn("UNAVAILABLE", codes)
                self.assertLessEqual(codes, {"UNAVAILABLE", "CANCELLED"})  # the latter: calls that the server ended

    def wait_for_calls(self, server, running):
        """Returns once the server has had work for some time."""
        start = self.cpu_ticks(server.pid)
        while self.cpu_ticks(server.pid) < start + 20:
            self.assertIsNone(running.poll(), "bench ended early")

    @staticmethod
    def cpu_ticks(pid):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])


if __name__ == "__main__":
    unittest.main()
