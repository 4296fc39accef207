#!/usr/bin/python3
"""How much sooner a text is embedded over a link of 1 Gbit/s when rows are kept: shaped_link.py [--rounds N] [--rate R]

Server and client run in network namespaces of their own, joined by a pair of virtual Ethernet devices that a token
bucket shapes in both directions. The text, the model and the ways are those of tests/e2e/fewer_bytes_test.py; each round
runs every way once, in turn, from a cold start. What counts is the median of the rounds' ratios. Needs root, iproute2,
node, and the packages of `tests/e2e/fetch.py npm`, which it fetches; ends with 77 where one of these is not to be had.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from support import node_modules  # noqa: E402
from support.cache import not_run  # noqa: E402

WAYS = ("plain", "unique", "caching", "caching16")
SOONER = 6  # times, by the caching client
SERVER, CLIENT = f"embd-s{os.getpid()}", f"embd-c{os.getpid()}"
SERVER_ADDRESS, CLIENT_ADDRESS = "198.18.77.1", "198.18.77.2"  # of the block for benchmarks, RFC 2544
CONFIG = """
models:
  - name: gpt2-sized
    token: { seeded: { vocab_size: 50257, embedding_dim: 768, seed: 5 } }
    position: { learned: { seeded: { max_context_length: 1024, seed: 5 } } }
"""


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, stdin=subprocess.DEVNULL)


@contextlib.contextmanager
def link(rate):
    """The two namespaces and the shaped link between them."""
    ends = {SERVER: SERVER_ADDRESS, CLIENT: CLIENT_ADDRESS}
    try:
        for name in ends:
            ip("netns", "add", name)
        ip("link", "add", "veth0", "netns", SERVER, "type", "veth", "peer", "name", "veth0", "netns", CLIENT)
        for name, address in ends.items():
            ip("-n", name, "address", "add", f"{address}/30", "dev", "veth0")
            ip("-n", name, "link", "set", "veth0", "up")
            ip("-n", name, "link", "set", "lo", "up")
            shape = ["tc", "-n", name, "qdisc", "add", "dev", "veth0", "root", "tbf"]
            subprocess.run([*shape, "rate", rate, "burst", "256kb", "latency", "50ms"], check=True)
        yield
    finally:
        for name in ends:
            subprocess.run(["ip", "netns", "delete", name], check=False)


@contextlib.contextmanager
def server(folder):
    """The address of a server in its namespace."""
    config, ready = folder / "embd.yaml", folder / "ready.json"
    config.write_text(CONFIG, encoding="utf-8")
    command = ["ip", "netns", "exec", SERVER, program("embd"), "--config", config, "--ready-file", ready]
    command += ["--listen", f"{SERVER_ADDRESS}:0", "--log-level", "warn", "--metrics-listen", "none"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 120
        while not (ready.exists() and ready.stat().st_size):
            if process.poll() is not None or time.monotonic() > end:
                sys.exit("embd does not serve")
            time.sleep(0.05)
        yield json.loads(ready.read_text(encoding="utf-8"))["listen"][0]
    finally:
        process.terminate()
        process.wait()


def program(name):
    return pathlib.Path(os.environ.get("EMBD_BIN_DIR", ROOT / "build" / "release" / "bin")).resolve() / name


def received_bytes():
    """What the client's end of the link has received, headers and all."""
    shown = subprocess.run(
        ["ip", "-n", CLIENT, "-s", "-j", "link", "show", "veth0"], check=True, stdout=subprocess.PIPE
    )
    return json.loads(shown.stdout)[0]["stats64"]["rx"]["bytes"]


def run(way, address, ids):
    """Seconds and received bytes of one pass over the text."""
    before = received_bytes()
    command = ["ip", "netns", "exec", CLIENT, program("text_client"), address, "gpt2-sized", ids, way]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["seconds"], received_bytes() - before


def measure(address, ids, rounds):
    results = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            results[way].append(run(way, address, ids))
    return results


def report(results):
    """Prints the table; whether the caching client is as much sooner as it should be."""
    ratios = {
        way: statistics.median(plain[0] / own[0] for plain, own in zip(results["plain"], runs))
        for way, runs in results.items()
    }
    print("| way | seconds (median) | received bytes | times sooner than plain (median of rounds) |\n|---|---|---|---|")
    for way, runs in results.items():
        seconds = statistics.median(seconds for seconds, _ in runs)
        print(f"| {way} | {seconds:.3f} | {statistics.median(size for _, size in runs):,} | {ratios[way]:.2f} |")
    print(f"caching: {ratios['caching']:.2f} times sooner, to be at least {SOONER}")
    return ratios["caching"] >= SOONER


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rate", default="1gbit")
    options = parser.parse_args()
    if os.geteuid() != 0:
        not_run("network namespaces need root")
    for tool in ("ip", "tc", "node"):
        if shutil.which(tool) is None:
            not_run(f"{tool} is not installed")
    node_modules.fetch()
    with tempfile.TemporaryDirectory(prefix="embd-link-") as made:
        folder = pathlib.Path(made)
        environment = {**os.environ, "NODE_PATH": str(node_modules.node_modules())}
        ids = folder / "ids"
        subprocess.run(["node", ROOT / "tests" / "e2e" / "text_ids.js", ids], env=environment, check=True)
        with link(options.rate), server(folder) as address:
            return 0 if report(measure(address, ids, options.rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
