"""Two replicas behind one client of the C++ library: what happens to them is invisible to its callers."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from support.server_process import binary, clean_environment

MODEL = "wide"
CONFIG = """
server:
  drain_timeout: 20s
models:
  - name: wide
    token: { seeded: { vocab_size: 320, embedding_dim: 768, seed: 11 } }
    position: { learned: { seeded: { max_context_length: 512 } } }
"""
WAIT_SECONDS = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def eventually(condition):
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it does not come to pass")
        time.sleep(0.02)


def cpu_ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    return int(fields[11]) + int(fields[12])


class Replica:
    """An `embd` on a port of its own that can be ended and started again."""

    def __init__(self, folder, name):
        self.port = free_port()
        self._ready = folder / f"{name}.json"
        self._log = folder / f"{name}.log"
        self._config = folder / "embd.yaml"
        self.process = None

    def start(self):
        self._ready.unlink(missing_ok=True)
        with open(self._log, "ab") as log:
            self.process = subprocess.Popen(
                [binary("embd"), "--config", str(self._config), "--listen", f"127.0.0.1:{self.port}",
                 "--ready-file", str(self._ready), "--metrics-listen", "none"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=clean_environment())
        eventually(lambda: self._ready.exists() or self.process.poll() is not None)
        if self.process.poll() is not None:
            raise AssertionError(self._log.read_text(encoding="utf-8"))

    def end(self, number):
        self.process.send_signal(number)
        return self.process.wait(timeout=WAIT_SECONDS)

    def await_work(self):
        """Returns once it has worked for half a second of CPU time since it started."""
        ticks = os.sysconf("SC_CLK_TCK") / 2
        eventually(lambda: cpu_ticks(self.process.pid) >= ticks)

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Callers:
    """`steady_callers` on both replicas."""

    def __init__(self, replicas):
        address = ",".join(f"127.0.0.1:{replica.port}" for replica in replicas)
        self._process = subprocess.Popen(
            [binary("steady_callers"), address, MODEL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self._process.stdout.readline() != "going\n":
            raise AssertionError("the callers get no first answer")

    def stop(self):
        out, _ = self._process.communicate("", timeout=WAIT_SECONDS)
        return json.loads(out)

    def close(self):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._process.stdin.close()


class ReplicasTest(unittest.TestCase):
    def replace_each_by(self, number):
        """Ends each replica in turn under load, and starts it again. Returns exit codes and what the callers say."""
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="embd-e2e-")))
            (folder / "embd.yaml").write_text(CONFIG, encoding="utf-8")
            replicas = [Replica(folder, "first"), Replica(folder, "second")]
            for replica in replicas:
                stack.callback(replica.close)
                replica.start()
            callers = Callers(replicas)
            stack.callback(callers.close)
            codes = []
            for replica in replicas:
                for each in replicas:
                    each.await_work()
                codes.append(replica.end(number))
                replica.start()
            for replica in replicas:
                replica.await_work()
            tally = callers.stop()
            print(signal.Signals(number).name, tally)
            return codes, tally

    def check(self, tally):
        self.assertGreater(tally["calls"], 100)
        self.assertEqual((tally["failed"], tally["different"]), (0, 0), tally["first_failure"])

    def test_callers_see_nothing_of_a_replica_that_is_killed(self):
        codes, tally = self.replace_each_by(signal.SIGKILL)

        self.assertEqual(codes, [-signal.SIGKILL] * 2)
        self.check(tally)

    def test_callers_see_nothing_of_a_rolling_restart(self):
        codes, tally = self.replace_each_by(signal.SIGTERM)

        self.assertEqual(codes, [0, 0])
        self.check(tally)


if __name__ == "__main__":
    unittest.main()
