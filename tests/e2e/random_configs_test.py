"""Random configurations of a fixed seed: valid ones are served as they say, broken ones named by file, line and key.

Another seed, for an hour of fuzzing by hand: RANDOM_CONFIGS_SEED=7 RANDOM_CONFIGS_ROUNDS=20.
"""

import os
import pathlib
import random
import re
import subprocess
import tempfile
import time
import unittest

import grpc

from random_configs import breaking, configs, contradictions, unloadable, writing
from support.calls import Client, Refusal
from support.server_process import START_SECONDS, ServerProcess, binary, clean_environment
from support.stubs import diagnostics_pb2 as pb
from support.stubs import diagnostics_pb2_grpc

SEED = int(os.environ.get("RANDOM_CONFIGS_SEED", "2026"))
ROUNDS = int(os.environ.get("RANDOM_CONFIGS_ROUNDS", "1"))
CHECKED, SERVED, MODELS_SERVED, BROKEN_A_KIND, UNLOADABLE, MUTILATED = 60, 12, 8, 40, 50, 60


def rounds(purpose):
    """A generator a round; each test has its own, so that none depends on another."""
    return [random.Random(f"{SEED} {purpose} {number}") for number in range(ROUNDS)]


class RandomConfigsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.folder / "embd.yaml"

    def embd(self, text, *arguments):
        """Runs the program on a configuration to its end, which must come by itself."""
        self.file.write_bytes(text if isinstance(text, bytes) else text.encode())
        command = [binary("embd"), "--config", str(self.file), *arguments]
        environment = clean_environment()
        del environment["EMBD_METRICS_LISTEN"]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=60, check=False, cwd=self.folder
        )

    def test_valid_configurations_pass_the_check_in_every_style(self):
        for draw in rounds("checked"):
            for number in range(CHECKED):
                config = configs.draw_config(draw, self.folder)
                text = writing.write_any(draw, config.content)
                with self.subTest(number=number):
                    done = self.embd(text, "--check-config")

                    count = len(config.descriptions) or 3  # the demo models
                    told = f"configuration is valid: {count} model{'s' if count > 1 else ''}\n"
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (0, told, ""), text)

    def test_models_and_limits_are_described_as_the_file_says(self):
        for draw in rounds("served"):
            for number in range(SERVED):
                config = configs.draw_config(draw, self.folder, MODELS_SERVED)
                if not config.can_be_served or not config.descriptions:
                    continue
                text = writing.write_any(draw, config.content)
                self.file.write_text(text, encoding="utf-8")
                with self.subTest(number=number):
                    with ServerProcess("--config", str(self.file)) as server, Client(server.address) as client:
                        self._compare(config, diagnostics_pb2_grpc.DiagnosticsServiceStub(client.channel), text)

    @staticmethod
    def _describe(diagnostics, model):
        """Waits for models that are not required: the server is ready without them."""
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                return diagnostics.DescribeModel(pb.DescribeModelRequest(model=model), timeout=60)
            except grpc.RpcError as error:
                if Refusal(error).reason != "MODEL_LOADING" or time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def _compare(self, config, diagnostics, text):
        for said in config.descriptions:
            self.assertEqual(configs.without_checksums(self._describe(diagnostics, said.name)), said, text)
        info = diagnostics.GetServerInfo(pb.GetServerInfoRequest(), timeout=60)
        if not config.limits.max_bytes_in_flight:  # the machine's memory says
            info.limits.max_bytes_in_flight = 0
        self.assertEqual(info.limits, config.limits, text)
        self.assertEqual(info.shared_memory_prefix, config.region_prefix)

    def test_what_is_broken_is_named_with_file_line_and_key(self):
        kinds = (
            *(breaking.break_type, breaking.break_word, breaking.break_bound),
            *(breaking.unknown_key, breaking.missing_key, breaking.repeated_key, contradictions.contradict),
        )
        for draw in rounds("broken"):
            for kind in kinds:
                for number in range(BROKEN_A_KIND):
                    broken = breaking.broken(draw, kind, lambda: configs.draw_config(draw, self.folder).content)
                    with self.subTest(kind=kind.__name__, number=number):
                        self._assert_refused(broken, writing.write(broken.content, draw.choice(writing.STYLES)))

    def test_mutilated_text_is_understood_or_refused_and_never_kills(self):
        for draw in rounds("mutilated"):
            for number in range(MUTILATED):
                text = writing.write_any(draw, configs.draw_config(draw, self.folder).content)
                data = writing.mutilate(draw, text.encode())
                with self.subTest(number=number):
                    done = self.embd(data, "--check-config")

                    self.assertIn(done.returncode, (0, 2), (data, done.stderr))
                    if done.returncode == 2:
                        self.assertRegex(done.stderr, rf"\Aembd: {re.escape(str(self.file))}:\d+:[^\n]+\n\Z", data)

    def test_model_that_cannot_be_loaded_is_named_with_the_reason(self):
        for draw in rounds("unloadable"):
            for number in range(UNLOADABLE):
                content, name, words = breaking.broken(
                    draw,
                    lambda random, config: unloadable.spoil(random, config, self.folder),
                    lambda: configs.draw_config(draw, self.folder),
                )
                text = writing.write_any(draw, content)
                with self.subTest(number=number):
                    done = self.embd(
                        text, "--listen", "127.0.0.1:0", "--metrics-listen", "none", "--log-level", "error"
                    )

                    context = f"{done.stderr}\n{text}"
                    self.assertEqual((done.returncode, done.stdout), (1, ""), context)
                    self.assertTrue(done.stderr.startswith(f'embd: model "{name}": '), context)
                    self.assertEqual(done.stderr.count("\n"), 1, context)
                    for part in words:
                        self.assertIn(part, done.stderr, context)

    def _assert_refused(self, broken, text):
        done = self.embd(text, "--check-config")

        line = writing.line_of(text, broken.line_steps or broken.steps, broken.of_key)
        path = writing.path_of(broken.steps)
        start = f"embd: {self.file}:{line}: {path}: " if path else f"embd: {self.file}:{line}: "
        context = f"{done.stderr}\n{text}"
        self.assertEqual((done.returncode, done.stdout), (2, ""), context)
        self.assertTrue(done.stderr.startswith(start), f"{start}\n{context}")
        self.assertEqual(done.stderr.count("\n"), 1, context)
        for words in broken.says:
            self.assertIn(words, done.stderr, context)


if __name__ == "__main__":
    unittest.main()
