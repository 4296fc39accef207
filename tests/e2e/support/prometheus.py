"""A real Prometheus, as Debian packages it, on a free port and in a temporary folder."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

START_SECONDS = 60


def missing():
    """Why there is none; empty where there is one."""
    absent = [name for name in ("prometheus", "promtool") if shutil.which(name) is None]
    return f"{' and '.join(absent)} not installed; apt-get install prometheus" if absent else ""


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


class Prometheus:
    """Scrapes the job `embd` at `targets` with the rules in `rules`, several times a second."""

    def __init__(self, targets, rules):
        self._targets = targets
        self._rules = rules
        self._folder = None
        self._process = None
        self._address = None

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="embd-prometheus-")
        folder = pathlib.Path(self._folder.name)
        job = {"job_name": "embd", "static_configs": [{"targets": self._targets}]}
        fast = {"scrape_interval": "250ms", "scrape_timeout": "250ms", "evaluation_interval": "250ms"}
        config = folder / "prometheus.json"  # JSON is YAML
        config.write_text(json.dumps({"global": fast, "rule_files": [str(self._rules)], "scrape_configs": [job]}))
        for _ in range(5):  # somebody may take the port in between
            self._address = f"127.0.0.1:{_free_port()}"
            with open(folder / "log", "wb") as log:
                self._process = subprocess.Popen(
                    [
                        "prometheus",
                        f"--config.file={config}",
                        f"--storage.tsdb.path={folder / 'data'}",
                        f"--web.listen-address={self._address}",
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={**os.environ, "GOMAXPROCS": "1"},
                )
            if self._is_up():
                return self
        self.__exit__()
        raise RuntimeError("Prometheus does not start")

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(timeout=START_SECONDS)
        self._folder.cleanup()

    def _is_up(self):
        end = time.monotonic() + START_SECONDS
        while self._process.poll() is None and time.monotonic() < end:
            try:
                with urllib.request.urlopen(f"http://{self._address}/-/ready", timeout=5):
                    return True
            except OSError:
                time.sleep(0.05)
        return False

    def get(self, path, **parameters):
        """What the API says under `data`."""
        url = f"http://{self._address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as refused:
            with refused:
                raise AssertionError(f"{parameters}: {refused.read().decode()}") from None

    def query(self, expression):
        """The samples of an instant query: (labels, value) each."""
        data = self.get("query", query=expression)
        return [(sample["metric"], float(sample["value"][1])) for sample in data["result"]]

    def await_query(self, expression):
        """The samples, once there are any."""
        end = time.monotonic() + START_SECONDS
        while not (samples := self.query(expression)):
            if time.monotonic() > end:
                raise AssertionError(f"no data for {expression}")
            time.sleep(0.1)
        return samples
