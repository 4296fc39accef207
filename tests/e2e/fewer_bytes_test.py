"""What a text of 65,024 tokens in (8, 512) batches costs in bytes, plainly, by `unique` and by the caching client.

The model has the shape of GPT-2's tables, 50,257 and 1,024 rows of 768; what its rows hold makes no difference. Bytes
are counted by a proxy between client and server, requests and all, connection by connection; every tensor is compared
with that of a plain call past the proxy. How often ids repeat is the text's doing: among the genres of the Brown corpus
fiction repeats them as much as the bounds below ask for, press reportage, 44 pieces about 44 subjects, less: from a cold
start 6.3 and 12 times fewer bytes instead of 8 and 15.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from support.counting_proxy import CountingProxy
from support.node_modules import node_modules
from support.server_process import ServerProcess, binary, clean_environment

NODE_MODULES = node_modules()
TOKENS, DIM = 65_024, 768
CONFIG = f"""
models:
  - name: gpt2-sized
    token: {{ seeded: {{ vocab_size: 50257, embedding_dim: {DIM}, seed: 5 }} }}
    position: {{ learned: {{ seeded: {{ max_context_length: 1024, seed: 5 }} }} }}
"""
AT_LEAST = {"unique": 3, "caching": 8, "caching16": 15}  # times fewer bytes than plainly
# Token rows of normal(0, 0.02) are below 0.125, where neighbours among float16 lie 2^-14 apart; the sum is rounded, too.
FLOAT16_ERROR = 2**-15 + 2**-26


def setUpModule():
    global results
    with tempfile.TemporaryDirectory() as folder, ServerProcess(config=CONFIG) as server:
        ids = pathlib.Path(folder) / "ids"
        script = pathlib.Path(__file__).with_name("text_ids.js")
        environment = {**os.environ, "NODE_PATH": str(NODE_MODULES)}
        subprocess.run(["node", script, ids], env=environment, timeout=120, check=True)
        results = {way: embed(server.address, ids, way) for way in ("plain", *AT_LEAST)}
    print("| way | bytes | times fewer |\n|---|---|---|")
    for way, result in results.items():
        print(f"| {way} | {result['bytes']:,} | {fewer(way):.2f} |")


def embed(address, ids, way):
    """What text_client reports, and the bytes that went by."""
    with CountingProxy(address) as proxy:
        command = [binary("text_client"), proxy.address, "gpt2-sized", ids, way, address]
        done = subprocess.run(
            command, env=clean_environment(), stdout=subprocess.PIPE, text=True, timeout=120, check=True
        )
        return {**json.loads(done.stdout), "bytes": proxy.byte_count}


def fewer(way):
    return results["plain"]["bytes"] / results[way]["bytes"]


class FewerBytesTest(unittest.TestCase):
    def test_plain_calls_carry_every_row(self):
        self.assertEqual(results["plain"]["tokens"], TOKENS)
        self.assertGreater(results["plain"]["bytes"], TOKENS * DIM * 4)

    def test_other_ways_carry_far_fewer_bytes(self):
        for way, times in AT_LEAST.items():
            with self.subTest(way=way):
                self.assertGreaterEqual(fewer(way), times)

    def test_tensors_are_those_of_plain_calls_to_the_bit(self):
        for way in ("plain", "unique", "caching"):
            with self.subTest(way=way):
                self.assertTrue(results[way]["equal_bits"])

    def test_float16_rows_are_rounded_once(self):
        self.assertGreater(results["caching16"]["max_difference"], 0)
        self.assertLessEqual(results["caching16"]["max_difference"], FLOAT16_ERROR)


if __name__ == "__main__":
    unittest.main()
