"""When which fault is injected: all of them in turns of a random order, with pauses, until the time is over."""

import threading
import time
import traceback


class Timetable:
    """Injects `faults` from a thread of its own, until `end`, or for one turn if `once`, or the block fails."""

    def __init__(self, faults, random, pause_seconds, end, once):
        self._faults, self._random, self._pause, self._end, self._once = faults, random, pause_seconds, end, once
        self.injected = {fault.name: 0 for fault in faults}
        self._broken_off = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, failure, *_):
        if failure is not None:
            self._broken_off.set()
        self._thread.join()

    def await_end(self):
        self._thread.join()

    def _run(self):
        while self._faults:
            self._random.shuffle(self._faults)
            for fault in self._faults:
                if self._broken_off.is_set() or (not self._once and time.monotonic() >= self._end):
                    return
                self._inject(fault)
                self._broken_off.wait(self._random.uniform(0.2, 1) * self._pause)
            if self._once:
                return

    def _inject(self, fault):
        begin = time.monotonic()
        try:
            fault.inject()
        except Exception:  # noqa: BLE001 - whatever it is, the others go on, and the report tells it
            fault.expect(False, traceback.format_exc(limit=-3))
        self.injected[fault.name] += 1
        print(f"{fault.name}: {time.monotonic() - begin:.1f} s", flush=True)
