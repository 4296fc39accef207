"""A server whose control group leaves little more than it needs is to load what does not fit."""

import grpc

from faults.fault import Fault
from tables import TOO_LARGE


class MemoryLimit(Fault):
    """Each such load is refused, and calls go on. That nothing was killed is checked at the end, too."""

    name = "memory limit"

    def not_here(self):
        return self.soak.group_not_here

    def inject(self):
        for model in TOO_LARGE:
            try:
                self.soak.load_model(model)
                self.expect(False, f"{model} was loaded")
            except grpc.RpcError as error:
                self.expect(error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED, f"{model}: {error.details()}")
            self.expect(not self._is_served(model), f"{model} is served")
        self.expect_calls(self.soak.load, 40)
        self.expect(self.soak.group.kills() == 0, "the system has killed for want of memory")

    def _is_served(self, model):
        try:
            self.soak.generation(model)
        except grpc.RpcError as error:
            self.expect(error.code() == grpc.StatusCode.UNAVAILABLE, f"{model}: {error.details()}")
            return False
        return True
