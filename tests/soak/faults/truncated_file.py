"""A file that a model has mapped is cut short under it, and repaired."""

import os

import grpc

from faults.fault import Fault, eventually

MODEL = "mapped"
PAGE = 4096
DAMAGED = "FAILED_PRECONDITION/TABLE_DAMAGED"


class TruncatedFile(Fault):
    """Calls of that model are refused until the repaired file is loaded, and never answered with other bytes."""

    name = "truncated file"

    def inject(self):
        size = os.path.getsize(self.soak.tables.mapped)
        kept = self.soak.random.choice([0, 1, 100, size // 2, size // 2 // PAGE * PAGE, size - 1])
        with self.window(self.soak.load, (DAMAGED,), models=(MODEL,)):
            os.truncate(self.soak.tables.mapped, kept)
            self.expect(eventually(self._is_refused), f"cut to {kept} bytes, and {MODEL} is not refused")
            self.expect_calls(self.soak.load, 60)
            self._try_to_load(kept)
            self.soak.tables.restore_mapped()
            self.soak.load_model(MODEL)
        self.expect(not self._is_refused(), f"{MODEL} is refused although its file is repaired")
        self.expect_calls(self.soak.load, 40)

    def _is_refused(self):
        try:
            self.soak.generation(MODEL)
        except grpc.RpcError as error:
            self.expect(error.code() == grpc.StatusCode.FAILED_PRECONDITION, f"{MODEL}: {error.details()}")
            return True
        return False

    def _try_to_load(self, kept):
        try:
            self.soak.load_model(MODEL)
            self.expect(False, f"a file of {kept} bytes was loaded")
        except grpc.RpcError as error:
            self.expect(error.code() == grpc.StatusCode.INVALID_ARGUMENT, f"load of {kept} bytes: {error.details()}")
