"""Two replicas and their callers, each in a network namespace of its own, and what happens to the links between."""

import contextlib
import os
import shutil
import subprocess

from support.server_process import ServerProcess

_CALLERS = f"embd-c{os.getpid()}"


def run(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def not_here():
    """Why there can be no network namespaces, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for tool in ("ip", "tc", "nft"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    probe = f"embd-p{os.getpid()}"
    try:
        run("ip", "netns", "add", probe)
        run("ip", "-n", probe, "link", "add", "veth0", "type", "veth", "peer", "name", "veth1")
        with slow(probe, "veth0", "1mbit"), dropping(probe, 1):
            return None
    except subprocess.CalledProcessError as error:
        return f"'{' '.join(error.cmd)}' fails"
    finally:
        subprocess.run(["ip", "netns", "delete", probe], check=False, stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def slow(space, device, rate):
    """What a namespace sends by a device leaves at that rate."""
    queue = ("tc", "-n", space, "qdisc")
    run(*queue, "add", "dev", device, "root", "tbf", "rate", rate, "burst", "64kb", "latency", "100ms")
    try:
        yield
    finally:
        run(*queue, "delete", "dev", device, "root")


@contextlib.contextmanager
def dropping(space, percent):
    """So much of what a namespace sends and receives is lost."""
    nft = ("ip", "netns", "exec", space, "nft")
    run(*nft, "add table inet soak")
    try:
        for hook in ("input", "output"):
            run(*nft, f"add chain inet soak {hook} {{ type filter hook {hook} priority 0; }}")
            run(*nft, f"add rule inet soak {hook} numgen random mod 100 < {percent} drop")
        yield
    finally:
        run(*nft, "delete table inet soak")


class Replica:
    """A server in its namespace, and a pair of virtual Ethernet devices to the callers' one."""

    def __init__(self, number, config):
        self.name = f"embd-r{number}-{os.getpid()}"
        self._device = f"veth{number}"
        self._network = f"198.18.{77 + number}"  # of the block for benchmarks, RFC 2544
        self.server = ServerProcess(
            "--config", str(config), "--listen", f"{self._network}.1:0", "--insecure",
            prefix=("ip", "netns", "exec", self.name))

    @contextlib.contextmanager
    def linked(self):
        """The namespace and the link, for the length of a block."""
        run("ip", "netns", "add", self.name)
        try:
            run("ip", "link", "add", self._device, "netns", self.name, "type", "veth", "peer", "name", self._device,
                "netns", _CALLERS)
            for space, address in ((self.name, f"{self._network}.1/24"), (_CALLERS, f"{self._network}.2/24")):
                run("ip", "-n", space, "address", "add", address, "dev", self._device)
                run("ip", "-n", space, "link", "set", self._device, "up")
            run("ip", "-n", self.name, "link", "set", "lo", "up")
            yield
        finally:
            run("ip", "netns", "delete", self.name)

    @property
    def address(self):
        return self.server.addresses[-1]

    @contextlib.contextmanager
    def cut_off(self):
        run("ip", "-n", self.name, "link", "set", self._device, "down")
        try:
            yield
        finally:
            run("ip", "-n", self.name, "link", "set", self._device, "up")

    def slow(self, rate):
        return slow(self.name, self._device, rate)

    def dropping(self, percent):
        return dropping(self.name, percent)


class Network:
    """Both replicas, for the length of a `with` block. `prefix` makes a command run where the callers are."""

    def __init__(self, config):
        self.replicas = [Replica(number, config) for number in range(2)]
        self.prefix = ("ip", "netns", "exec", _CALLERS)
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            run("ip", "netns", "add", _CALLERS)
            stack.callback(run, "ip", "netns", "delete", _CALLERS)
            run("ip", "-n", _CALLERS, "link", "set", "lo", "up")
            for replica in self.replicas:
                stack.enter_context(replica.linked())
                stack.enter_context(replica.server)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *failure):
        return self._stack.__exit__(*failure)

    @property
    def address(self):
        return ",".join(replica.address for replica in self.replicas)
