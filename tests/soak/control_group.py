"""A control group with a memory limit, of version 1 or 2, for the length of a `with` block."""

import contextlib
import os
import pathlib
import time

_V1 = pathlib.Path("/sys/fs/cgroup/memory")
_V2 = pathlib.Path("/sys/fs/cgroup")
_WAIT_SECONDS = 10


class ControlGroup:
    """`prefix` is a command that runs another one in the group."""

    def __init__(self, folder, limit_file, kills_file, peak_file):
        self.folder, self._limit_file, self._kills_file, self._peak_file = folder, limit_file, kills_file, peak_file
        self.prefix = ["sh", "-c", f'echo $$ > "{folder}/cgroup.procs" && exec "$@"', "sh"]

    def limit(self, mib):
        (self.folder / self._limit_file).write_text(str(mib << 20), encoding="ascii")

    def peak_mib(self):
        """The most memory that has been in use, or None where the system does not tell."""
        peak = self.folder / self._peak_file
        return int(peak.read_text(encoding="ascii")) >> 20 if peak.exists() else None

    def kills(self):
        """How many processes the system has killed for want of memory."""
        for line in (self.folder / self._kills_file).read_text(encoding="ascii").splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill":
                return int(count)
        raise RuntimeError(f"no oom_kill in {self.folder / self._kills_file}")


def _of_this_machine(name):
    """The group, made, or None where the system has no such controller."""
    if (_V1 / "memory.limit_in_bytes").exists():
        group = ControlGroup(_V1 / name, "memory.limit_in_bytes", "memory.oom_control", "memory.max_usage_in_bytes")
    elif (_V2 / "cgroup.controllers").exists() and "memory" in (_V2 / "cgroup.controllers").read_text().split():
        (_V2 / "cgroup.subtree_control").write_text("+memory", encoding="ascii")
        group = ControlGroup(_V2 / name, "memory.max", "memory.events", "memory.peak")
    else:
        return None
    group.folder.mkdir()
    return group


@contextlib.contextmanager
def control_group(mib):
    """(the group, None), or (None, why there is none)."""
    if os.geteuid() != 0:
        yield None, "control groups need root"
        return
    try:
        group = _of_this_machine(f"embd-soak-{os.getpid()}")
        if group is not None:
            group.limit(mib)
    except OSError as error:
        yield None, f"no control group can be made: {error}"
        return
    if group is None:
        yield None, "the system has no memory controller"
        return
    try:
        yield group, None
    finally:
        _remove(group.folder)


def _remove(folder):
    """The system needs a moment after the last process has ended."""
    end = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            folder.rmdir()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
