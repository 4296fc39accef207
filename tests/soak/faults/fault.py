"""What all faults are."""

import time

WAIT_SECONDS = 60


class Fault:
    """`inject` brings the fault about once, says by windows which calls may fail of it, and takes it back."""

    name = ""

    def __init__(self, soak):
        self.soak = soak

    def not_here(self):
        """Why it cannot be injected on this machine, or None."""
        return None

    def inject(self):
        raise NotImplementedError

    def window(self, load, codes=(), **fields):
        return self.soak.ledger.window(self.name, load.name, codes, **fields)

    def expect(self, holds, what):
        """Notes what should have come to pass and has not."""
        if not holds:
            self.soak.ledger.add_broken(self.name, what)

    def expect_calls(self, load, count):
        """The load's calls go on."""
        self.expect(load.await_answers(count), f"calls of {load.name} do not go on")


def eventually(condition, seconds=WAIT_SECONDS):
    """Whether it comes to pass."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
