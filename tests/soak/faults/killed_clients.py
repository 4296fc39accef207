"""Client processes die in the midst of their calls."""

from faults.fault import Fault
from load import MixedLoad
from support.stubs import admin_pb2

VICTIMS = 2
RATE = 150


class KilledClients(Fault):
    """Nothing of it may be seen by others. What stays, regions of shared memory, is unregistered by an admin."""

    name = "killed clients"

    def inject(self):
        kept = self._regions()
        for number in range(VICTIMS):
            seed = self.soak.random.randrange(1 << 20)
            victim = MixedLoad(
                "victims", self.soak.ledger, self.soak.server.address, self.soak.references,
                local=self.soak.local_address, rate=RATE, callers=4, seed=seed)
            with victim:
                self.expect(victim.await_answers(RATE // 2 + number), "the victims' calls are not answered")
                victim.kill()
        self.expect_calls(self.soak.load, 40)
        left = self._regions() - kept
        self.expect(left, "the victims have left no region behind: they had none")
        for name in left:
            self.soak.local_admin.UnregisterRegion(admin_pb2.UnregisterRegionRequest(name=name), timeout=60)

    def _regions(self):
        reply = self.soak.local_admin.ListRegions(admin_pb2.ListRegionsRequest(), timeout=60)
        return {region.name for region in reply.regions}
