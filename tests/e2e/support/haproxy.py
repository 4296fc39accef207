"""Debian's HAProxy with docker/haproxy/haproxy.cfg in front of two servers, for the length of a `with` block."""

import os
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

from support.cache import not_run

_CONFIGURATION = pathlib.Path(__file__).resolve().parents[3] / "docker" / "haproxy" / "haproxy.cfg"
_PROGRAM = shutil.which("haproxy", path=os.environ.get("PATH", "") + ":/usr/sbin")
WAIT_SECONDS = 60


def free_port():
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Haproxy:
    """`replicas` are two pairs: the port of gRPC, and that of /readyz."""

    def __init__(self, replicas):
        self.address = f"127.0.0.1:{free_port()}"
        self._health_port = free_port()
        self._environment = {
            "EMBD_PROXY_LISTEN": self.address,
            "EMBD_PROXY_HEALTH": f"127.0.0.1:{self._health_port}",
        }
        for number, (port, ready_port) in enumerate(replicas, start=1):
            self._environment[f"EMBD_REPLICA{number}"] = f"127.0.0.1:{port}"
            self._environment[f"EMBD_REPLICA{number}_READY_PORT"] = str(ready_port)
        self._process = None

    def __enter__(self):
        if _PROGRAM is None:
            not_run("haproxy is not installed")
        self._process = subprocess.Popen(
            [_PROGRAM, "-db", "-f", _CONFIGURATION],
            env={**os.environ, **self._environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    def states(self):
        """What HAProxy thinks of each replica: 1 that it is up."""
        address = f"http://127.0.0.1:{self._health_port}/metrics?scope=server"
        try:
            with urllib.request.urlopen(address, timeout=WAIT_SECONDS) as reply:
                lines = reply.read().decode().splitlines()
        except urllib.error.URLError:
            return []  # it has only just been started
        marks = [f'haproxy_server_status{{proxy="replicas",server="replica{n}",state="UP"}} 1' for n in (1, 2)]
        return [mark in lines for mark in marks]

    def await_states(self, *wanted):
        """Returns once HAProxy has seen that of the two replicas."""
        end = time.monotonic() + WAIT_SECONDS
        while self.states() != list(wanted):
            if self._process.poll() is not None:
                raise RuntimeError(f"haproxy ended with {self._process.returncode}")
            if time.monotonic() > end:
                raise RuntimeError(f"haproxy sees {self.states()}, not {list(wanted)}")
            time.sleep(0.05)
