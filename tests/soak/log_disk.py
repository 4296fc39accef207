"""A disk of one MiB for a log, in a mount namespace that ends with this process."""

import contextlib
import os
import shutil
import subprocess
import sys

_MARK = "EMBD_SOAK_OWN_MOUNTS"


def own_mounts():
    """Starts this program again in a mount namespace of its own, where root and the system let it."""
    if os.environ.get(_MARK) or os.geteuid() != 0 or shutil.which("unshare") is None:
        return
    command = ["unshare", "--mount", "--propagation", "private"]
    if subprocess.run([*command, "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0:
        os.execvpe(command[0], [*command, sys.executable, *sys.argv], {**os.environ, _MARK: "1"})


@contextlib.contextmanager
def log_disk(folder):
    """(a log file on a small disk, None), or (one on a disk like any other, why)."""
    disk = folder / "log-disk"
    disk.mkdir()
    if not os.environ.get(_MARK):
        yield disk / "log", "a disk of its own needs root and mount namespaces"
        return
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "soak", str(disk)], check=True)
    try:
        yield disk / "log", None
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
