"""memory_soak.py [CALLS [PIECES]]: many calls of mixed sizes, and what the server's memory does meanwhile.

A server with the demo models answers CALLS calls (a million unless said) of 256 bytes to 2 MiB, in PIECES (16) runs of
`embdctl bench` that take single calls, streams and asynchronous calls in turns. Prints the median of the resident memory
for each piece, and ends with 1 if that of the last quarter exceeds that of the first by more than GROWTH_MIB.
"""

import dataclasses
import json
import statistics
import subprocess
import sys
import threading

from support.process_figures import resident_mib
from support.server_process import ServerProcess, binary, clean_environment

GROWTH_MIB = 16
# Of 100 calls: those with one row of D = 64 are 256 bytes, those with 64 x 128 are 2 MiB.
SHAPES = ",".join(["1x1"] * 60 + ["1x16"] * 30 + ["1x128"] * 8 + ["8x128", "64x128"])
MODES = (
    ("--mode", "stream", "--concurrency", "4", "--window", "16"),
    ("--mode", "unary", "--concurrency", "8"),
    ("--mode", "async", "--concurrency", "2", "--window", "16", "--connections", "2"),
)
_SAMPLE_SECONDS = 0.05


@dataclasses.dataclass
class Piece:
    """One run of `embdctl bench`, and the resident memory of the server while it lasted."""

    mode: str
    calls: int
    failed: int
    calls_per_s: float
    rss_mib: float


def run_piece(server, mode, calls, seed):
    """Runs one piece; the samples end with one after it."""
    samples = []
    over = threading.Event()

    def sample():
        while not over.wait(_SAMPLE_SECONDS):
            samples.append(resident_mib(server.pid))

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        done = subprocess.run(
            [binary("embdctl"), "--server", server.address, "bench", "demo-learned", "--shapes", SHAPES, "--calls"]
            + [str(calls), "--warmup", "0", "--seed", str(seed), "--output", "json", *mode],
            capture_output=True,
            text=True,
            check=False,
            env=clean_environment(),
        )
    finally:
        over.set()
        sampler.join()
    if done.returncode != 0:
        raise RuntimeError(f"embdctl bench ended with {done.returncode}:\n{done.stderr}{done.stdout}")
    samples.append(resident_mib(server.pid))
    result = json.loads(done.stdout)
    return Piece(mode[1], result["calls"], result["failed_calls"], result["calls_per_s"], statistics.median(samples))


def soak(calls, pieces):
    """Runs all pieces against a server of its own."""
    with ServerProcess() as server:
        return [run_piece(server, MODES[i % len(MODES)], calls // pieces, seed=i) for i in range(pieces)]


def growth_mib(pieces):
    """By how much the median of the last quarter exceeds that of the first."""
    quarter = max(1, len(pieces) // 4)
    rss = [piece.rss_mib for piece in pieces]
    return statistics.median(rss[-quarter:]) - statistics.median(rss[:quarter])


def main(arguments):
    calls = int(arguments[0]) if arguments else 1_000_000
    pieces = soak(calls, int(arguments[1]) if len(arguments) > 1 else 16)
    print(f"{'mode':8}{'calls':>10}{'failed':>8}{'calls/s':>10}{'RSS, MiB':>10}")
    for piece in pieces:
        print(f"{piece.mode:8}{piece.calls:10}{piece.failed:8}{piece.calls_per_s:10.0f}{piece.rss_mib:10.1f}")
    growth = growth_mib(pieces)
    print(f"{sum(piece.calls for piece in pieces)} calls; last quarter against the first: {growth:+.1f} MiB")
    return 1 if growth > GROWTH_MIB else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
