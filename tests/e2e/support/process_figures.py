"""What the system tells of a process."""

import os
import pathlib


def resident_mib(pid):
    """The resident memory of a process now."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"no VmRSS of process {pid}")


def open_descriptors(pid):
    """How many files, sockets and the like a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))
