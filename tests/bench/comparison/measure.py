"""Runs the load client: rounds in which every line of a case is measured once, in random order."""

import collections
import json
import os
import random
import subprocess
import sys

import numpy as np

from comparison.servers import DIM, VOCAB

NOT_BUILT = 77
CLIENT_CPU, SERVER_CPU = 0, 1


class Expected:
    """Files of what the first reply must be, made by numpy from the tables."""

    def __init__(self, folder):
        self.folder = folder
        self.token = np.load(folder / "token.npy")
        self.position = np.load(folder / "position.npy")
        self.made = {}

    def file(self, case, line):
        form = "rows" if line.server == "redis" else "float16" if "--float16" in line.arguments else "float32"
        key = f"{case.batch}x{case.tokens}.{form}"
        if key not in self.made:
            ids = np.arange(case.batch * case.tokens, dtype=np.int64) * 7919 % VOCAB
            values = self.token[ids].reshape(case.batch, case.tokens, DIM)
            if form != "rows":
                values = values + self.position[: case.tokens]
            path = self.folder / f"{key}.bin"
            path.write_bytes(values.astype("<f2" if form == "float16" else "<f4").tobytes())
            self.made[key] = path
        return self.made[key]


class Meter:
    def __init__(self, servers, seconds, warm_up_seconds):
        self.servers = servers
        self.seconds, self.warm_up_seconds = seconds, warm_up_seconds
        self.expected = Expected(servers.folder)

    def measure(self, case, line):
        """The load client's figures, or None where the line cannot be measured here."""
        server = self.servers.running.get(line.server)
        if server is None:
            return None
        callers = 1 if line in case.single else case.callers
        command = [str(self.servers.binaries / "load_client"), "--address", server.addresses[line.address]]
        command += ["--server", str(server.pid), "--batch", str(case.batch), "--tokens", str(case.tokens)]
        command += ["--callers", str(callers), "--expect", str(self.expected.file(case, line))]
        command += ["--seconds", str(self.seconds), "--warm-up-seconds", str(self.warm_up_seconds), *line.arguments]
        every_cpu = os.sched_getaffinity(0)
        if case.pinned:
            server.pin({SERVER_CPU})
            command = ["taskset", "-c", str(CLIENT_CPU), *command]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if case.pinned:
            server.pin(every_cpu)
        if done.returncode == NOT_BUILT:
            self.servers.not_run[line.server] = done.stderr.strip()
            self.servers.running.pop(line.server).stop()
            return None
        if done.returncode != 0:
            raise RuntimeError(f"{case.title}: {line.name}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def run(self, case, rounds):
        """The figures of each line, one entry a round."""
        if case.pinned and len(os.sched_getaffinity(0)) < 2:
            print(f"{case.title}: NOT RUN: there is one core only", file=sys.stderr)
            return {}
        figures = collections.defaultdict(list)
        for _ in range(rounds):
            for line in random.sample(case.lines, len(case.lines)):
                measured = self.measure(case, line)
                if measured is not None:
                    figures[line.name].append(measured)
        return dict(figures)
