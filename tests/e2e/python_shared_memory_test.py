"""Results in shared memory: a region that Python makes itself holds the bits of the plain reply."""

import json
import mmap
import os
import subprocess
import tempfile
import unittest

import grpc
import numpy as np

from support.calls import Client, refusal_of
from support.server_process import ServerProcess, binary
from support.snippets import programs_of, run_programs
from support.stubs import admin_pb2, admin_pb2_grpc, embedding_pb2, tensor_pb2

SIZE = 8 << 20
POISON = 0xCD
DTYPES = {
    tensor_pb2.DATA_TYPE_FLOAT32: "<f4",
    tensor_pb2.DATA_TYPE_FLOAT16: "<f2",
    tensor_pb2.DATA_TYPE_BFLOAT16: "<u2",
}
IDS = np.random.default_rng(5).integers(0, 320, (64, 100))  # 1.6 MB of float32


def setUpModule():
    global folder, server, client, admin, prefix, socket
    folder = unittest.enterModuleContext(tempfile.TemporaryDirectory(prefix="embd-shared-"))
    prefix = f"{folder}/embd-"
    socket = f"unix:{folder}/socket"
    config = f"server: {{ shared_memory: {{ prefix: {prefix}, max_regions: 2 }} }}\n"
    server = unittest.enterModuleContext(ServerProcess("--listen", socket, config=config))
    client = unittest.enterModuleContext(Client(socket))
    admin = admin_pb2_grpc.AdminServiceStub(client.channel)


def register(name, path, **fields):
    region = admin_pb2.Region(name=name, path=path, **{"byte_size": SIZE, **fields})
    admin.RegisterRegion(admin_pb2.RegisterRegionRequest(region=region), timeout=60)


def unregister(name):
    admin.UnregisterRegion(admin_pb2.UnregisterRegionRequest(name=name), timeout=60)


def target(name, offset=0, byte_size=SIZE):
    return embedding_pb2.SharedMemoryTarget(region=name, offset=offset, byte_size=byte_size)


def fields_of(**fields):
    return {
        "model": "demo-learned",
        "ids": IDS.ravel().tolist(),
        "batch_size": IDS.shape[0],
        "sequence_length": IDS.shape[1],
        **fields,
    }


class SharedMemoryTest(unittest.TestCase):
    def setUp(self):
        self.path = prefix + "python"
        with open(self.path, "x+b") as file:
            os.posix_fallocate(file.fileno(), 0, SIZE)
            self.memory = mmap.mmap(file.fileno(), SIZE)
        register("python", self.path)
        self.bytes = np.frombuffer(self.memory, np.uint8)
        self.bytes[:] = POISON

    def tearDown(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        unregister("python")

    def test_region_holds_the_bits_of_the_plain_reply_and_poison_around_them(self):
        for data_type in DTYPES:
            for offset in (0, 64, 1 << 20):
                with self.subTest(data_type=data_type, offset=offset):
                    self.bytes[:] = POISON
                    fields = fields_of(output_type=data_type)
                    plain = client.call(**fields)

                    reply = client.call(**fields, output_target=target("python", offset, SIZE - offset))

                    end = offset + len(plain.embeddings.data)
                    self.assertEqual(reply.written, target("python", offset, end - offset))
                    self.assertEqual(self.bytes[offset:end].tobytes(), plain.embeddings.data)
                    self.assertTrue((self.bytes[:offset] == POISON).all())
                    self.assertTrue((self.bytes[end:] == POISON).all())
                    self.assertEqual(reply.embeddings.data, b"")
                    plain.embeddings.ClearField("data")
                    reply.ClearField("written")
                    self.assertEqual(reply, plain)

    def test_file_may_be_unlinked_once_it_is_registered(self):
        os.unlink(self.path)

        client.call(**fields_of(output_target=target("python")))

        self.assertFalse((self.bytes[: IDS.size * 64 * 4] == POISON).all())

    def test_region_of_an_offset_begins_there(self):
        register("second", self.path, offset=8192, byte_size=SIZE - 8192)
        try:
            reply = client.call(**fields_of(output_target=target("second", 64, SIZE - 8192 - 64)))
        finally:
            unregister("second")

        written = self.bytes[8192 + 64 :][: reply.written.byte_size].tobytes()
        self.assertEqual(written, client.call(**fields_of()).embeddings.data)
        self.assertTrue((self.bytes[: 8192 + 64] == POISON).all())

    def test_file_cut_short_fails_the_call_and_not_the_server(self):
        os.truncate(self.path, 4096)

        refusal = refusal_of(client.call, **fields_of(output_target=target("python")))

        self.assertEqual((refusal.code, refusal.reason), (grpc.StatusCode.FAILED_PRECONDITION, "REGION_DAMAGED"))
        self.assertTrue(server.is_running())
        client.call(**fields_of())

    def test_refused_requests_write_nothing(self):
        bad_id = fields_of(output_target=target("python"))
        bad_id["ids"][-1] = 320
        refusals = [
            refusal_of(client.call, **bad_id),
            refusal_of(client.call, **fields_of(output_target=target("python", 0, 100))),
            refusal_of(client.call, **fields_of(output_target=target("python", SIZE - 64, SIZE))),
            refusal_of(client.call, **fields_of(output_target=target("python", 1, SIZE - 64))),
        ]

        self.assertEqual(
            [r.reason for r in refusals], ["ID_OUT_OF_RANGE", "INVALID_OPTION", "INVALID_OPTION", "INVALID_OPTION"]
        )
        self.assertTrue((self.bytes == POISON).all())

    def test_tcp_callers_are_refused(self):
        with Client(server.address) as tcp:
            refusal = refusal_of(tcp.call, **fields_of(output_target=target("python")))

        self.assertEqual((refusal.code, refusal.reason), (grpc.StatusCode.PERMISSION_DENIED, "NOT_LOCAL"))

    def test_command_line_lists_and_unregisters_regions(self):
        register("second", self.path)

        def embdctl(*arguments):
            return subprocess.run(
                [binary("embdctl"), "--server", socket, *arguments], capture_output=True, text=True, check=False
            )

        listed = json.loads(embdctl("regions", "--output", "json").stdout)
        removed = embdctl("regions", "--unregister", "second")
        missing = embdctl("regions", "--unregister", "second")
        text = embdctl("regions")

        both = [{"name": n, "path": self.path, "offset": 0, "byte_size": SIZE} for n in ("python", "second")]
        self.assertEqual(listed, both)
        self.assertEqual((removed.returncode, removed.stdout), (0, ""))
        self.assertEqual(missing.returncode, 1)
        self.assertIn('there is no region "second"', missing.stderr)
        self.assertEqual([line.split()[0] for line in text.stdout.splitlines()], ["region", "python"])


class DocsTest(unittest.TestCase):
    def test_snippet_prints_what_the_page_says(self):
        stubs, *_ = programs_of("Python")
        programs = [stubs]
        for language, text, expected in programs_of("Shared memory"):
            text = text.replace("/dev/shm/embd-", prefix).replace("unix:/run/embd.sock", socket)
            programs.append((language, text, expected))

        outputs = run_programs(programs, server.address)

        self.assertEqual(len(outputs), 2)
        for expected, actual in outputs:
            self.assertEqual(actual, expected)


if __name__ == "__main__":
    unittest.main()
