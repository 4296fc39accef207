"""The disk that the log is written to has no room."""

import contextlib
import errno
import os

from faults.fault import Fault


class FullDisk(Fault):
    """The server goes on without its log, and goes on with it once there is room."""

    name = "full disk"

    def not_here(self):
        return self.soak.log_disk_not_here

    def inject(self):
        filler = self.soak.log.parent / "filler"
        with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        try:
            self.expect(self._is_full(), "the disk is not full")
            before = os.path.getsize(self.soak.log)
            for _ in range(40):
                self.soak.reload()  # a few lines each, more than the log's last page has room for
            self.expect_calls(self.soak.load, 60)
            self.expect(os.path.getsize(self.soak.log) < before + 8192, "the log has grown on a full disk")
        finally:
            filler.unlink()
            self.soak.keep_log()
        self.soak.reload()
        self.expect(os.path.getsize(self.soak.log) > 0, "nothing is logged although there is room again")

    def _is_full(self):
        try:
            (self.soak.log.parent / "probe").write_bytes(bytes(8192))
        except OSError as error:
            return error.errno == errno.ENOSPC
        finally:
            (self.soak.log.parent / "probe").unlink(missing_ok=True)
        return False
