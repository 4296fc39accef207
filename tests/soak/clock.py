"""The wall clock of a process, to be set while it runs: jumping_clock.cc preloaded."""

import mmap
import struct

from support.server_process import binary


class Clock:
    """`environment` is what a process needs whose clock this is."""

    def __init__(self, path):
        path.write_bytes(bytes(8))
        with open(path, "r+b") as file:
            self._offset = mmap.mmap(file.fileno(), 8)
        self.environment = {"LD_PRELOAD": binary("jumping_clock.so"), "EMBD_TEST_CLOCK_OFFSET": str(path)}

    def set(self, seconds):
        """The clock is so far off from now on."""
        self._offset[:] = struct.pack("q", seconds)
