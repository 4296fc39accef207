"""Which failed calls were to be expected, because a fault was there at that time."""

import dataclasses
import threading
import time

OPEN = float("inf")
GRACE_SECONDS = 2


@dataclasses.dataclass
class Window:
    """The time of a fault, and what it may do to the calls of a load.

    `codes` are a code each, or a code and a reason, such as "FAILED_PRECONDITION/TABLE_DAMAGED"; `models` are the
    models whose calls may fail, all where there are none.
    """

    fault: str
    load: str
    codes: tuple = ()
    models: tuple = ()
    grace: float = GRACE_SECONDS
    begin: float = dataclasses.field(default_factory=time.monotonic)
    end: float = OPEN

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end = time.monotonic()

    def excuses(self, load, failure):
        if load != self.load or failure["end"] < self.begin or failure["begin"] > self.end + self.grace:
            return False
        if self.models and not set(failure["model"].split(", ")) & set(self.models):
            return False
        return failure["code"] in self.codes or f"{failure['code']}/{failure['reason']}" in self.codes


class Ledger:
    """All windows and all failures. Thread-safe."""

    GIVEN_UP_CODES = ("CANCELLED", "DEADLINE_EXCEEDED")

    def __init__(self):
        self._mutex = threading.Lock()
        self._windows, self._failures, self._broken = [], [], []

    def window(self, fault, load, codes=(), **fields):
        """A window, for a `with` block: it ends with the block."""
        window = Window(fault, load, codes, **fields)
        with self._mutex:
            self._windows.append(window)
        return window

    def add_failure(self, load, failure):
        """A line of mixed_load."""
        with self._mutex:
            self._failures.append((load, failure))

    def add_broken(self, fault, what):
        """Something that a fault should have shown, and has not."""
        with self._mutex:
            self._broken.append({"fault": fault, "what": what})

    @property
    def windows(self):
        return self._windows

    @property
    def broken(self):
        return self._broken

    def judged(self):
        """Failures as (load, failure, why it was to be expected or None). Wrong bytes never are."""
        return [(load, failure, self._excuse(load, failure)) for load, failure in self._failures]

    def _excuse(self, load, failure):
        if "wrong" in failure:
            return None
        if failure["given_up"] and failure["code"] in self.GIVEN_UP_CODES:
            return "given up by its caller"
        return next((window.fault for window in self._windows if window.excuses(load, failure)), None)
