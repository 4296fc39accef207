"""The server's wall clock is set an hour on, an hour back, and right again."""

import calendar
import json
import time

from faults.fault import Fault, eventually

HOUR = 3600


class ClockJumps(Fault):
    """No call may end sooner or later for it: deadlines and stalls count the time that passes."""

    name = "clock jumps"

    def inject(self):
        jumps = [HOUR, -HOUR]
        self.soak.random.shuffle(jumps)
        for jump in [*jumps, 0]:
            self.soak.clock.set(jump)
            self.expect(eventually(lambda: self._is_off_by(jump)), f"the log's times are not off by {jump} s")
            self.expect_calls(self.soak.load, 60)

    def _is_off_by(self, jump):
        """By the times of the log, so that a library which was not loaded cannot pass."""
        self.soak.keep_log()
        self.soak.reload()
        for text in self.soak.log.read_bytes().rpartition(b"\n")[0].splitlines():
            stamp = json.loads(text)["time"].partition(".")[0].rstrip("Z")
            seconds = calendar.timegm(time.strptime(stamp, "%Y-%m-%dT%H:%M:%S"))
            if abs(seconds - time.time() - jump) > HOUR / 2:
                return False
        return True
