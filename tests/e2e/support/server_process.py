"""A real `embd` process on a free port, for the length of a `with` block."""

import contextlib
import ctypes
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

START_SECONDS = 120
STOP_SECONDS = 60
_CONFIGURATION = (
    *("EMBD_CONFIG", "EMBD_MODEL", "EMBD_LISTEN", "EMBD_READY_FILE", "EMBD_LOG_LEVEL", "EMBD_LOG_FORMAT", "EMBD_SIMD"),
    *("EMBD_TLS_CERTIFICATE", "EMBD_TLS_KEY", "EMBD_TLS_CLIENT_CA", "EMBD_TOKENS", "EMBD_INSECURE"),
)
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def binary(name):
    """Path of a built program; its folder is $EMBD_BIN_DIR."""
    folder = os.environ.get("EMBD_BIN_DIR")
    if not folder:
        raise RuntimeError("EMBD_BIN_DIR is not set: run the test by ctest, or name the folder of embd and embdctl")
    return str(pathlib.Path(folder).resolve() / name)


def clean_environment():
    """The environment without settings of a server or client that the caller may have exported.

    Servers serve their metrics on a free port, so that several of them can run.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _CONFIGURATION and not name.startswith("EMBDCTL_")
    }
    return {**kept, "EMBD_METRICS_LISTEN": "127.0.0.1:0"}


def _die_with_parent():
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class ServerProcess:
    """Starts `embd`, or another program with its flags; on leaving sends SIGINT and insists on exit code 0.

    SIGTERM would wait `drain_delay` for balancers; the tests of it send it themselves. `prefix` is a command that
    becomes the program, such as `ip netns exec NAME`; `log` a file elsewhere than in the temporary folder.
    """

    def __init__(self, *arguments, config=None, environment=None, program="embd", prefix=(), log=None):
        self._program = program
        self._arguments = list(arguments)
        self._environment = environment or {}
        self._config = config
        self._prefix = list(prefix)
        self._log = log
        self._folder = None
        self._process = None
        self.address = None
        self.addresses = []
        self.metrics_address = None
        self.ready_file = None

    def __enter__(self):
        program = binary(self._program)
        self._folder = tempfile.TemporaryDirectory(prefix="embd-e2e-")
        folder = pathlib.Path(self._folder.name)
        self.ready_file = ready = folder / "ready.json"
        command = [*self._prefix, program, "--listen", "127.0.0.1:0", "--ready-file", str(ready)]
        if self._config is not None:
            (folder / "embd.yaml").write_text(self._config, encoding="utf-8")
            command += ["--config", str(folder / "embd.yaml")]
        self._log = self._log or folder / "log"
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                command + self._arguments,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**clean_environment(), **self._environment},
                preexec_fn=_die_with_parent,
            )
        try:
            self.address = self._wait_until_ready(ready)
        except BaseException:
            self._process.kill()
            self._process.wait()
            self._folder.cleanup()
            raise
        return self

    def __exit__(self, kind, value, trace):
        exit_code = self._stop()
        log = self.log()
        self._folder.cleanup()
        if kind is None and exit_code != 0:
            raise AssertionError(f"embd ended with {exit_code}, not 0, after SIGINT; its log:\n{log}")

    @property
    def pid(self):
        return self._process.pid

    def is_running(self):
        return self._process.poll() is None

    def send_signal(self, number):
        self._process.send_signal(number)

    @contextlib.contextmanager
    def stopped(self):
        """No thread of the server runs while the block does; connections stay."""
        self.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED)  # returns once the last thread has stopped
        try:
            yield
        finally:
            self.send_signal(signal.SIGCONT)

    def await_refusing(self):
        """Returns once no new connection is accepted any more."""
        host, _, port = self.address.rpartition(":")
        end = time.monotonic() + STOP_SECONDS
        while time.monotonic() < end:
            try:
                socket.create_connection((host, int(port)), timeout=STOP_SECONDS).close()
            except OSError:
                return
            time.sleep(0.02)
        raise RuntimeError("embd still accepts connections")

    def await_log(self, text):
        """Returns once the log has the text."""
        end = time.monotonic() + STOP_SECONDS
        while text not in self.log():
            if time.monotonic() > end:
                raise RuntimeError(f"embd has not logged {text!r}:\n{self.log()}")
            time.sleep(0.02)

    def await_end(self):
        """The exit code, once the process has ended by itself."""
        return self._process.wait(timeout=STOP_SECONDS)

    def log(self):
        """What the server has written so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def _wait_until_ready(self, ready):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise RuntimeError(f"embd ended with {self._process.returncode} before it served:\n{self.log()}")
            try:
                state = json.loads(ready.read_text(encoding="utf-8"))
            except (FileNotFoundError, json.JSONDecodeError):
                time.sleep(0.02)
                continue
            if state["pid"] != self._process.pid:
                raise RuntimeError(f"ready file names pid {state['pid']}, the server has {self._process.pid}")
            self.metrics_address = next(iter(state["metrics"]), None)
            self.addresses = state["listen"]
            return self.addresses[0]
        raise RuntimeError(f"embd was not ready within {START_SECONDS} s:\n{self.log()}")

    def _stop(self):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            return self._process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return "SIGKILL (it did not stop by itself)"
