#!/usr/bin/python3
"""How long a large table takes to load, and how much memory: `./dev load-report`.

Writes a .safetensors file of bfloat16 rows into a temporary folder, reads it by plain reads, and starts `embd` with it:
read into memory, mapped, and mapped in a control group that allows less memory than the table takes (as root, with
version 1 or 2 of control groups). Nothing is dropped from the page cache but for the last one, whose pages have to be
charged to the group. On a virtual machine, whoever is the first to touch some memory may wait for the host to give it;
so compare what comes later, too.
"""

import argparse
import hashlib
import json
import mmap
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

PIECE = 4 << 20
MIB = 1 << 20


def write_table(path, rows, dim):
    """Random bfloat16 values below 2, with no NaN among them."""
    size = rows * dim * 2
    header = json.dumps({"wte": {"dtype": "BF16", "shape": [rows, dim], "data_offsets": [0, size]}})
    header += " " * (-len(header) % 8)
    pattern = bytearray(random.Random(7).randbytes(PIECE))
    pattern[1::2] = bytes(byte & 0xBF for byte in pattern[1::2])  # the exponent's highest bit
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header.encode())
        for begin in range(0, size, PIECE):
            file.write(pattern[: min(PIECE, size - begin)])
        file.flush()
        os.fsync(file.fileno())
    return size


def timed(work):
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def read_once(path):
    buffer = bytearray(PIECE)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def read_into_memory(path, size):
    """As a loader without any checks would: into fresh memory of the table's size, in huge pages."""
    with mmap.mmap(-1, size) as memory, open(path, "rb", buffering=0) as file:
        memory.madvise(mmap.MADV_HUGEPAGE)
        for begin in range(0, size, PIECE):
            with memoryview(memory) as whole, whole[begin : begin + PIECE] as piece:
                file.readinto(piece)


def hash_once(path):
    buffer = bytearray(PIECE)
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(buffer):
            digest.update(memoryview(buffer)[:count])


class Server:
    """`embd` with one table; ready when the block is entered, stopped when it is left."""

    def __init__(self, binaries, folder, table, mapped, group=None):
        self.ready_file = folder / "ready.json"
        self.ready_file.unlink(missing_ok=True)
        model = {"name": "big", "token": {"file": str(table), "mmap": mapped}}
        config = folder / "embd.yaml"
        config.write_text(json.dumps({"models": [model], "server": {"log": {"level": "warn"}}}))
        command = [
            str(binaries / "embd"),
            *("--config", str(config), "--listen", "127.0.0.1:0", "--ready-file", str(self.ready_file)),
            *("--metrics-listen", "none"),
        ]
        if group:
            command = ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(group), *command]
        self.binaries = binaries
        self.command = command

    def __enter__(self):
        begin = time.monotonic()
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        while not self.ready_file.exists():
            if self.process.poll() is not None:
                raise RuntimeError(self.process.stderr.read().strip())
            time.sleep(0.002)
        self.seconds = time.monotonic() - begin
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
        self.process.stderr.close()

    def memory(self):
        """VmHWM, RssAnon and the like in bytes."""
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        fields = (line.split(":", 1) for line in lines if line.endswith(" kB"))
        return {name: int(value.split()[0]) * 1024 for name, value in fields}

    def embed(self, ids):
        address = json.loads(self.ready_file.read_text())["listen"][0]
        command = [str(self.binaries / "embdctl"), "--server", address, "embed", "big", "--ids", ids]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class MemoryGroup:
    """A control group with a memory limit. `path` is None where there can be none, and `why` says so."""

    def __init__(self, limit):
        self.path = None
        self.why = "not root"
        if os.geteuid() != 0:
            return
        root = pathlib.Path("/sys/fs/cgroup")
        unified = (root / "cgroup.controllers").exists()
        parent, key = (root, "memory.max") if unified else (root / "memory", "memory.limit_in_bytes")
        path = parent / f"embd-load-report-{os.getpid()}"
        try:
            if unified:
                (root / "cgroup.subtree_control").write_text("+memory")
            path.mkdir()
            self.path = path
            (path / key).write_text(str(limit))
        except OSError as error:
            self.why = str(error)
            self.remove()

    def peak(self):
        for key in ("memory.peak", "memory.max_usage_in_bytes"):
            if (self.path / key).exists():
                return int((self.path / key).read_text())
        return 0

    def remove(self):
        if self.path:
            self.path.rmdir()
            self.path = None


def report(what, seconds, size, note=""):
    print(f"{what:44} {seconds:7.2f} s  {size / seconds / 1e9:6.2f} GB/s  {note}", flush=True)


def report_server(what, server, size):
    memory = server.memory()
    note = ", ".join(f"{key} {memory[key] / MIB:,.0f} MiB" for key in ("VmHWM", "RssAnon", "RssFile"))
    report(what, server.seconds, size, f"{note}; VmHWM is {memory['VmHWM'] / size:.2f} x the table")


def forget(path):
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def report_limited(binaries, folder, table, size):
    limit = size // 4 + 128 * MIB
    group = MemoryGroup(limit)
    what = f"embd, mapped, {limit / MIB:,.0f} MiB allowed: ready after"
    if group.path is None or limit >= size:
        print(f"{what:44} NOT RUN: {'the table is too small' if group.path else group.why}")
        group.remove()
        return
    try:
        forget(table)
        with Server(binaries, folder, table, mapped=True, group=group.path) as server:
            report_server(what, server, size)
            rows = size // 2 // 4096
            chooser = random.Random(1)
            server.embed(" ".join(str(chooser.randrange(rows)) for _ in range(1000)))
            print(f"  1,000 rows embedded; the group took at most {group.peak() / MIB:,.0f} MiB")
    finally:
        group.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--dim", type=int, default=4096)
    parser.add_argument("--binaries", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    parser.add_argument("--folder", help="where the temporary folder is made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="embd-load-", dir=options.folder) as name:
        folder = pathlib.Path(name)
        table = folder / "big.safetensors"
        size = write_table(table, options.rows, options.dim)
        print(f"{options.rows:,} x {options.dim:,} bfloat16, {size / MIB:,.0f} MiB")
        read_once(table)  # a disk's own speed is not what is measured
        report("plain reads of the file, once", timed(lambda: read_once(table)), size)
        report("plain reads into memory of that size", timed(lambda: read_into_memory(table, size)), size)
        report("plain reads and SHA-256, one thread", timed(lambda: hash_once(table)), size)
        for what, mapped in (("read", False), ("read again", False), ("mapped", True)):
            with Server(options.binaries, folder, table, mapped) as server:
                report_server(f"embd, {what}: ready after", server, size)
        report_limited(options.binaries, folder, table, size)


if __name__ == "__main__":
    sys.exit(main())
