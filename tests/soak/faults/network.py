"""What happens to the link between callers and one of two replicas."""

from faults.fault import Fault

LATE = ("DEADLINE_EXCEEDED",)


class NetworkFault(Fault):
    """Calls go on meanwhile, and all of them succeed soon after it."""

    def not_here(self):
        return self.soak.network_not_here

    def choose(self):
        return self.soak.random.choice(self.soak.network.replicas)


class Partition(NetworkFault):
    """No packet gets through. Calls that wait for that replica miss their deadline, until its connection is given up:
    after a ping's 10 s and 20 s more. Once it is back, the client tries again within 5 s, its health watch included;
    an old connection that has survived may pause as long as the partition was, as TCP does."""

    name = "partition"

    def inject(self):
        replica, seconds = self.choose(), self.soak.partition_seconds
        load = self.soak.replica_load
        with self.window(load, ("DEADLINE_EXCEEDED", "UNAVAILABLE"), grace=seconds + 10):
            with replica.cut_off():
                load.run_for(seconds)
                self.expect_calls(load, 5)
        load.run_for(seconds + 10)
        self.expect_calls(load, 30)


class SlowLink(NetworkFault):
    """A link of 20 Mbit/s."""

    name = "slow link"

    def inject(self):
        load = self.soak.replica_load
        with self.window(load, LATE), self.choose().slow("20mbit"):
            load.run_for(self.soak.partition_seconds / 2)
            self.expect_calls(load, 20)
        self.expect_calls(load, 30)


class DroppedPackets(NetworkFault):
    """One packet in twenty is lost, both ways; TCP sends it again."""

    name = "dropped packets"

    def inject(self):
        load = self.soak.replica_load
        with self.window(load, LATE, grace=10), self.choose().dropping(5):
            load.run_for(self.soak.partition_seconds / 2)
            self.expect_calls(load, 20)
        self.expect_calls(load, 30)
