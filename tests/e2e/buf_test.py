"""buf: the protos keep its standard rules, and `buf curl` calls the server by reflection alone."""

import base64
import json
import os
import pathlib
import subprocess
import unittest

import numpy as np

from support.cache import cache_folder
from support.calls import PART_TOKEN, Client
from support.node_modules import node_modules
from support.server_process import ServerProcess

PROTO_FOLDER = pathlib.Path(__file__).resolve().parents[2] / "proto"
BUF = node_modules() / ".bin" / "buf"
EXIT_PER_CODE = 8
INVALID_ARGUMENT, NOT_FOUND = 3, 5


def buf(*arguments):
    return subprocess.run(
        [BUF, *arguments],
        cwd=PROTO_FOLDER,
        env={**os.environ, "BUF_CACHE_DIR": str(cache_folder() / "buf")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


class ProtoTest(unittest.TestCase):
    def test_protos_pass_the_lint(self):
        done = buf("lint")

        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_protos_build(self):
        done = buf("build")

        self.assertEqual((done.returncode, done.stderr), (0, ""))


class CurlTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server = cls.enterClassContext(ServerProcess())
        cls.address = server.address
        cls.client = cls.enterClassContext(Client(server.address))

    def curl(self, method, request):
        url = f"http://{self.address}/embd.v1.{method}"
        return buf("curl", "--http2-prior-knowledge", "--protocol", "grpc", "-d", json.dumps(request), url)

    def test_embed_by_reflection_returns_the_values(self):
        ids = [[1, 2, 3], [317, 318, 319]]
        request = {"model": "demo-learned", "ids": sum(ids, []), "batchSize": 2, "sequenceLength": 3}

        done = self.curl("EmbeddingService/Embed", request)

        self.assertEqual(done.returncode, 0, done.stderr)
        tensor = json.loads(done.stdout)["embeddings"]
        self.assertEqual((tensor["dataType"], tensor["shape"]), ("DATA_TYPE_FLOAT32", ["2", "3", "64"]))
        values = np.frombuffer(base64.b64decode(tensor["data"]), "<f4").reshape(2, 3, 64)
        tokens = self.client.embed("demo-learned", ids, part=PART_TOKEN)
        self.assertEqual(values.tobytes(), (tokens + self.client.positions("demo-learned", 2, 3)).tobytes())

    def test_names_of_enum_values_are_understood(self):
        request = {"model": "demo-rotary", "ids": [1], "batchSize": 1, "sequenceLength": 1}
        request |= {"outputType": "DATA_TYPE_BFLOAT16", "part": "PART_TOKEN"}

        done = self.curl("EmbeddingService/Embed", request)

        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["embeddings"]["dataType"], "DATA_TYPE_BFLOAT16")

    def test_models_are_listed(self):
        done = self.curl("DiagnosticsService/ListModels", {})

        self.assertEqual(done.returncode, 0, done.stderr)
        names = [model["name"] for model in json.loads(done.stdout)["models"]]
        self.assertEqual(names, ["demo-learned", "demo-rotary", "demo-sinusoidal"])

    def test_exit_code_tells_the_status(self):
        request = {"ids": [320], "batchSize": 1, "sequenceLength": 1}

        outside = self.curl("EmbeddingService/Embed", {**request, "model": "demo-learned"})
        nobody = self.curl("EmbeddingService/Embed", {**request, "model": "nobody"})

        self.assertEqual(outside.returncode, EXIT_PER_CODE * INVALID_ARGUMENT, outside.stderr)
        self.assertIn("ids[0][0] = 320", outside.stderr)
        self.assertEqual(nobody.returncode, EXIT_PER_CODE * NOT_FOUND, nobody.stderr)


if __name__ == "__main__":
    unittest.main()
