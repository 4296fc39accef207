"""The servers of the comparison: each a process that is started once, with the same model."""

import contextlib
import importlib.util
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

import numpy as np

MODEL = "gpt2-sized"
VOCAB, DIM, LENGTH = 50257, 768, 1024
PYTHON = "/usr/bin/python3"
START_SECONDS = 60


class NotRun(Exception):
    """Why a server cannot run here, and what to install."""


class Server:
    """A process and its addresses by kind: "tcp", "unix"."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.addresses = {}

    @property
    def pid(self):
        return self.process.pid

    def read_addresses(self):
        """From the line of JSON that our own servers print."""
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args[0]} ended before it served")
        for address in filter(None, json.loads(line)["listen"]):
            self.addresses["unix" if address.startswith("unix:") else "tcp"] = address

    def wait_until(self, ready):
        deadline = time.monotonic() + START_SECONDS
        while not ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.process.args[0]} does not serve")
            time.sleep(0.02)

    def pin(self, cpus):
        """Lets all its threads run on these CPUs only."""
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                os.sched_setaffinity(int(thread), cpus)

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def start_embd(binaries, folder):
    rows = {"seed": 7, "std": 1}
    model = {
        "name": MODEL,
        "token": {"seeded": {"vocab_size": VOCAB, "embedding_dim": DIM, **rows}},
        "position": {"learned": {"seeded": {"max_context_length": LENGTH, **rows}}},
    }
    config, ready = folder / "embd.json", folder / "ready.json"
    ready.unlink(missing_ok=True)
    shared = {"prefix": f"/dev/shm/embd-bench-{os.getpid()}-"}
    config.write_text(json.dumps({"models": [model], "server": {"log": {"level": "warn"}, "shared_memory": shared}}))
    listen = ("--listen", "127.0.0.1:0", "--listen", f"unix:{folder}/embd.socket", "--metrics-listen", "none")
    server = Server([str(binaries / "embd"), "--config", str(config), *listen, "--ready-file", str(ready)])
    server.wait_until(ready.exists)
    server.addresses = dict(zip(("tcp", "unix"), json.loads(ready.read_text())["listen"]))
    return server


def start_floor(binaries, folder):
    server = Server([str(binaries / "floor_server"), f"unix:{folder}/floor.socket"])
    server.read_addresses()
    return server


def start_socket(binaries, folder):
    server = Server([str(binaries / "socket_server")])
    server.read_addresses()
    return server


def start_torch(binaries, folder):
    if importlib.util.find_spec("torch") is None:
        raise NotRun("torch is not installed; apt-get install python3-torch")
    script = pathlib.Path(__file__).resolve().parents[1] / "torch_server.py"
    server = Server([PYTHON, str(script), str(folder / "token.npy"), str(folder / "position.npy")])
    server.read_addresses()
    return server


def start_redis(binaries, folder):
    if shutil.which("redis-server") is None:
        raise NotRun("Redis is not installed; apt-get install redis-server libhiredis-dev")
    path = str(folder / "redis.socket")
    settings = {"port": 0, "unixsocket": path, "dir": str(folder), "save": "", "appendonly": "no", "logfile": "redis.log"}
    server = Server(["redis-server", *(word for key, value in settings.items() for word in (f"--{key}", str(value)))])
    server.wait_until(lambda: os.path.exists(path))
    server.addresses = {"unix": path}
    fill_redis(path, np.load(folder / "token.npy"))
    return server


def fill_redis(path, rows):
    """One key a token row, `row:ID`, in pipelines of a thousand."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        for begin in range(0, len(rows), 1000):
            pipeline = bytearray()
            for index in range(begin, min(begin + 1000, len(rows))):
                for word in (b"SET", b"row:%d" % index, rows[index].tobytes()):
                    head = b"*3\r\n" if word == b"SET" else b""
                    pipeline += head + b"$%d\r\n" % len(word) + word + b"\r\n"
            connection.sendall(pipeline)
            left = min(1000, len(rows) - begin) * len(b"+OK\r\n")
            while left > 0:
                answer = connection.recv(left)
                if not answer or b"-" in answer:
                    raise RuntimeError(f"Redis does not take the rows: {answer!r}")
                left -= len(answer)


STARTERS = {
    "embd": start_embd,
    "floor": start_floor,
    "socket": start_socket,
    "torch": start_torch,
    "redis": start_redis,
}


class Servers:
    """All servers that run here, started in the block and stopped at its end; `not_run` says why others do not."""

    def __init__(self, binaries, folder, names):
        self.binaries, self.folder, self.names = binaries, folder, names
        self.running, self.not_run = {}, {}

    def __enter__(self):
        try:
            self.save_tables()
            for name in self.names:
                self.start(name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, name):
        print(f"starting {name}", file=sys.stderr, flush=True)
        try:
            self.running[name] = STARTERS[name](self.binaries, self.folder)
        except NotRun as reason:
            self.not_run[name] = str(reason)

    def save_tables(self):
        """The model's tables as .npy, for the servers that are not ours and for what is expected. From an embd of its
        own, so that the measured one's memory has no traces of it."""
        server = start_embd(self.binaries, self.folder)
        try:
            ids, token, position = (self.folder / f"{name}.npy" for name in ("ids", "token", "position"))
            np.save(ids, np.arange(VOCAB, dtype=np.int64).reshape(29, -1))
            ask = [str(self.binaries / "embdctl"), "--server", server.addresses["tcp"], "embed", MODEL, "--part"]
            run = {"check": True, "stdout": subprocess.DEVNULL}
            subprocess.run([*ask, "token", "--ids-file", str(ids), "--out", str(token)], **run)
            subprocess.run([*ask, "position", "--sequence-length", str(LENGTH), "--out", str(position)], **run)
            np.save(token, np.load(token).reshape(VOCAB, DIM))
            np.save(position, np.load(position).reshape(LENGTH, DIM))
        finally:
            server.stop()

    def __exit__(self, *_):
        for server in self.running.values():
            server.stop()
