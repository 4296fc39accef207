"""Memory and descriptors of the servers over time, metrics scrapes, and the rule by which a curve is flat."""

import statistics
import threading
import time
import urllib.request

from support.process_figures import open_descriptors, resident_mib

PERIOD_SECONDS = 1
GROWTH = {"RSS, MiB": 16, "descriptors": 4}
# Before, caches and pools fill; what a server needs for all faults together it has then met once.
JUDGED_SHARE = 2 / 3
MIN_JUDGED_SECONDS = 240
RULE = (
    "of the last two thirds of the time, the median of the last sixth may exceed that of the first sixth by "
    + " and ".join(f"{limit} ({name})" for name, limit in GROWTH.items())
)


def growth(values):
    """The median of the last sixth less that of the first sixth of the last two thirds."""
    judged = values[-max(6, round(len(values) * JUDGED_SHARE)) :]
    sixth = max(1, len(judged) // 6)
    return statistics.median(judged[-sixth:]) - statistics.median(judged[:sixth])


class Sampler:
    """Looks at each server every second, and reads the metrics of those that show them to this network namespace."""

    def __init__(self, servers, scraped):
        self._servers, self._scraped = servers, scraped
        self.seconds = []
        self.curves = {name: {figure: [] for figure in GROWTH} for name in servers}
        self.scrapes, self.failed_scrapes = 0, []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._begin = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _run(self):
        while not self._over.wait(PERIOD_SECONDS):
            self.seconds.append(round(time.monotonic() - self._begin, 1))
            for name, server in self._servers.items():
                if server.is_running():
                    self.curves[name]["RSS, MiB"].append(round(resident_mib(server.pid), 1))
                    self.curves[name]["descriptors"].append(open_descriptors(server.pid))
            self._scrape()

    def _scrape(self):
        self.scrapes += 1
        try:
            with urllib.request.urlopen(f"http://{self._scraped.metrics_address}/metrics", timeout=30) as answer:
                if b"\nembd_inflight_calls " not in answer.read():
                    self.failed_scrapes.append("no embd_inflight_calls in the metrics")
        except OSError as error:
            self.failed_scrapes.append(str(error))

    def verdicts(self):
        """(server, figure, growth, whether it is flat or None where the time is too short to tell) each."""
        judged = bool(self.seconds) and self.seconds[-1] >= MIN_JUDGED_SECONDS
        return [
            (name, figure, growth(values), growth(values) <= GROWTH[figure] if judged else None)
            for name, curves in self.curves.items()
            for figure, values in curves.items()
            if values
        ]
