"""Tables are replaced and models go and come back, in all ways there are, while calls are under way."""

import signal

import grpc

from faults.fault import Fault, eventually

FLIPPING = ("flip", "flip-mapped")
ROUNDS = 4


class Reloads(Fault):
    """Replies must be wholly of one version; only calls of the model that is taken out may fail."""

    name = "reloads"

    def inject(self):
        for _ in range(ROUNDS):
            way = self.soak.random.choice([self._load_each, self._reload, self._signal])
            before = [self.soak.generation(model) for model in FLIPPING]
            self.soak.tables.write_other_version()
            self.expect_calls(self.soak.load, 20)  # a table that is mapped is the old file still
            way()
            after = lambda: [self.soak.generation(model) for model in FLIPPING]  # noqa: E731
            self.expect(
                eventually(lambda: all(new > old for old, new in zip(before, after()))),
                f"{way.__name__}: generations are {before} before and {after()} after",
            )
            self.expect_calls(self.soak.load, 40)
        self._take_out()

    def _load_each(self):
        for model in FLIPPING:
            self.soak.load_model(model)

    def _reload(self):
        report = self.soak.reload()
        reloaded = sorted(model.name for model in report.reloaded)
        self.expect(reloaded == sorted(FLIPPING), f"ReloadConfig has loaded {reloaded}")

    def _signal(self):
        self.soak.server.send_signal(signal.SIGHUP)

    def _take_out(self):
        model = "comes-and-goes"
        codes = ("UNAVAILABLE/MODEL_NOT_LOADED", "UNAVAILABLE/MODEL_LOADING")
        with self.window(self.soak.load, codes, models=(model,)):
            self.soak.unload_model(model)
            try:
                self.soak.generation(model)
                self.expect(False, f"{model} is served although it was taken out")
            except grpc.RpcError as error:
                self.expect(error.code() == grpc.StatusCode.UNAVAILABLE, f"{model}: {error.details()}")
            self.expect_calls(self.soak.load, 40)
            self.soak.load_model(model)
