"""The folder where tests keep what they fetch once a machine, and how they fetch it.

$EMBD_TEST_CACHE, or embd-test in the user's cache folder. Everything in it may be deleted at any time.
"""

import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

# What ctest is told to count as "not run" (SKIP_RETURN_CODE).
NOT_RUN = 77

_UNREACHABLE = (
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ENOTFOUND",
    "ETIMEDOUT",
    "ERR_SOCKET_TIMEOUT",
    "code E5",
)


def cache_folder():
    """The cache folder, made if it is not there."""
    named = os.environ.get("EMBD_TEST_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = pathlib.Path(named) if named else pathlib.Path(base) / "embd-test"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def locked(name):
    """Lets one process at a time into the block, on this machine and cache folder."""
    with open(cache_folder() / f"{name}.lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def not_run(reason):
    """Ends the test as not run."""
    print(f"NOT RUN: {reason}", flush=True)
    sys.exit(NOT_RUN)


def npm(*arguments, folder):
    """Runs npm; ends the test as not run where npm is missing or its registry does not answer."""
    if shutil.which("npm") is None:
        not_run("npm is not installed")
    command = ["npm", *arguments, "--no-audit", "--no-fund", "--fetch-retries=1"]
    command += ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000", "--fetch-timeout=60000"]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    for code in _UNREACHABLE:
        if code in done.stderr:
            not_run(f"the npm registry does not answer ({code.removeprefix('code ')})")
    sys.exit(f"npm {arguments[0]} failed:\n{done.stderr}")
