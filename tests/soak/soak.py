#!/usr/bin/python3
"""Mixed load on real servers, with faults injected in turns: soak.py [MINUTES] [--once] [--seed N] [--only FAULT,…]

One server takes calls of every kind while tables are replaced, clients die, files, disks, clocks and memory fail; two
more, in network namespaces, while their links do. Every reply is compared, byte for byte, with those of servers that
nobody disturbs. Ends with 1 where a byte is wrong, a call has failed that no fault excuses, a fault has not shown what
it should, or memory or descriptors grow. README.md says more. Needs root for most faults; what cannot be run is told.
"""

import argparse
import contextlib
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "e2e"), str(pathlib.Path(__file__).resolve().parent)]
os.environ.setdefault("EMBD_BIN_DIR", str(ROOT / "build" / "release" / "bin"))

import grpc  # noqa: E402

import network  # noqa: E402
from clock import Clock  # noqa: E402
from control_group import control_group  # noqa: E402
from faults.clock_jumps import ClockJumps  # noqa: E402
from faults.fault import eventually  # noqa: E402
from faults.full_disk import FullDisk  # noqa: E402
from faults.killed_clients import KilledClients  # noqa: E402
from faults.memory_limit import MemoryLimit  # noqa: E402
from faults.network import DroppedPackets, Partition, SlowLink  # noqa: E402
from faults.reloads import Reloads  # noqa: E402
from faults.slow_readers import SlowReaders  # noqa: E402
from faults.truncated_file import TruncatedFile  # noqa: E402
from load import MixedLoad  # noqa: E402
from log_disk import log_disk, own_mounts  # noqa: E402
from report import Report  # noqa: E402
from samples import Sampler  # noqa: E402
from support.calls import Client  # noqa: E402
from support.server_process import ServerProcess  # noqa: E402
from support.stubs import admin_pb2, admin_pb2_grpc  # noqa: E402
from tables import MEMORY_LIMIT_MIB, VERSIONS, Tables  # noqa: E402
from timetable import Timetable  # noqa: E402
from windows import Ledger  # noqa: E402

SERVER_FAULTS = (Reloads, KilledClients, SlowReaders, MemoryLimit, TruncatedFile, FullDisk, ClockJumps)
NETWORK_FAULTS = (Partition, SlowLink, DroppedPackets)
CALLS_A_SECOND, REPLICA_CALLS_A_SECOND = 150, 25
GIVEN_UP = 0.02
REPLICA_TIMEOUT_SECONDS = 20
CALL_SECONDS = 60


class Soak:
    """What is soaked, as the faults see it."""

    def __init__(self, seed, once):
        self.random = random.Random(seed)
        self.ledger = Ledger()
        self.partition_seconds = 12 if once else 40
        self.loads = []
        self.peak_mib = None  # of the server's control group, at the end
        self.network, self.network_not_here = None, network.not_here()

    def set_up(self, stack, folder, seed):
        """Starts everything, to be stopped by the stack."""
        self.references = []
        for version in VERSIONS:
            tables = Tables(folder / f"reference-{version}", version)
            self.references.append(f"unix:{folder}/{version}.sock")
            stack.enter_context(ServerProcess("--config", str(tables.config), "--listen", self.references[-1]))
        self.group, self.group_not_here = stack.enter_context(control_group(MEMORY_LIMIT_MIB))
        self.log, self.log_disk_not_here = stack.enter_context(log_disk(folder))
        self.clock = Clock(folder / "clock-offset")
        self.tables = Tables(folder / "served", limited=self.group is not None)
        self.local_address = f"unix:{folder}/served.sock"
        self.server = stack.enter_context(
            ServerProcess(
                "--config", str(self.tables.config), "--listen", self.local_address, log=self.log,
                environment=self.clock.environment, prefix=self.group.prefix if self.group else ()))
        self._client = stack.enter_context(Client(self.server.address))
        self._admin = admin_pb2_grpc.AdminServiceStub(self._client.channel)
        local = stack.enter_context(grpc.insecure_channel(self.local_address))
        self.local_admin = admin_pb2_grpc.AdminServiceStub(local)
        self.load = self._start_load(
            stack, "server", self.server.address, self.references, local=self.local_address, rate=CALLS_A_SECOND,
            given_up=GIVEN_UP, seed=seed)
        self.servers = {"server": self.server}
        if self.network_not_here is None:
            static = Tables(folder / "replicas")
            self.network = stack.enter_context(network.Network(static.config))
            self.replica_load = self._start_load(
                stack, "replicas", self.network.address, self.references[:1], prefix=self.network.prefix, seed=seed,
                rate=REPLICA_CALLS_A_SECOND, timeout=REPLICA_TIMEOUT_SECONDS, attempts=4)
            self.servers |= {f"replica {n}": each.server for n, each in enumerate(self.network.replicas)}

    def _start_load(self, stack, name, *rest, **options):
        load = stack.enter_context(MixedLoad(name, self.ledger, *rest, **options))
        self.loads.append(load)
        return load

    def tear_down(self):
        """Ends the calls, and looks at what they leave behind."""
        for load in self.loads:
            load.stop()
        for name in ("embd_inflight_bytes", "embd_inflight_request_bytes", "embd_inflight_calls"):
            if not eventually(lambda: self.gauge(name) == 0):
                self.ledger.add_broken("the end", f"{name} is {self.gauge(name)} although no call is under way")
        for name, server in self.servers.items():
            if not server.is_running():
                self.ledger.add_broken("the end", f"{name} has ended by itself")
        if self.group is not None:
            self.peak_mib = self.group.peak_mib()
            if self.group.kills():
                self.ledger.add_broken("memory limit", "the system has killed for want of memory")

    def generation(self, model):
        """How often it has been loaded, as a reply for many of its rows says."""
        ids = list(range(0, 320, 5))
        return self._client.call(model=model, ids=ids, batch_size=1, sequence_length=len(ids)).generation

    def load_model(self, name):
        return self._admin.LoadModel(admin_pb2.LoadModelRequest(name=name), timeout=CALL_SECONDS)

    def unload_model(self, name):
        return self._admin.UnloadModel(admin_pb2.UnloadModelRequest(name=name), timeout=CALL_SECONDS)

    def reload(self):
        return self._admin.ReloadConfig(admin_pb2.ReloadConfigRequest(), timeout=CALL_SECONDS)

    def gauge(self, name):
        with urllib.request.urlopen(f"http://{self.server.metrics_address}/metrics", timeout=CALL_SECONDS) as answer:
            return float(re.search(rf"^{name} (\S+)$", answer.read().decode(), re.MULTILINE)[1])

    def keep_log(self):
        """Empties the log, as those do who rotate it by copying."""
        os.truncate(self.log, 0)


def run(options, folder):
    soak = Soak(options.seed, options.once)
    wanted = options.only.split(",") if options.only else None
    not_run, here = {}, []
    with contextlib.ExitStack() as stack:
        soak.set_up(stack, folder, options.seed)
        for kinds in (SERVER_FAULTS, NETWORK_FAULTS):
            faults = [kind(soak) for kind in kinds if wanted is None or kind.name in wanted]
            not_run |= {fault.name: fault.not_here() for fault in faults if fault.not_here()}
            here.append([fault for fault in faults if not fault.not_here()])
        end = time.monotonic() + options.minutes * 60
        pause = 2 if options.once else 10
        timetables = [
            Timetable(faults, random.Random(options.seed + n), pause, end, options.once)
            for n, faults in enumerate(here)
        ]
        with Sampler(soak.servers, soak.server) as sampler:
            with contextlib.ExitStack() as turns:
                for timetable in timetables:
                    turns.enter_context(timetable)
                for timetable in timetables:
                    timetable.await_end()
            if not options.once:
                soak.load.run_for(max(0, end - time.monotonic()))
        soak.tear_down()
    report = Report(soak, sampler, timetables, not_run)
    print(report.text(), flush=True)
    if options.out:
        report.write(pathlib.Path(options.out))
        print(f"all figures: {options.out}", flush=True)
    return 0 if report.passed else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minutes", nargs="?", type=float, default=30)
    parser.add_argument("--once", action="store_true", help="each fault once, and no longer")
    parser.add_argument("--only", help="names of faults, with commas between")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--out", default=ROOT / "build" / "soak.json", help="the report as JSON; empty: none")
    options = parser.parse_args()
    own_mounts()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("soak: ended by SIGTERM"))  # so that nothing stays behind
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="embd-soak-") as folder:
        return run(options, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
