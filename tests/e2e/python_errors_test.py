"""Refusals as a Python client sees them: code, text, ErrorInfo. After each the server goes on serving."""

import socket
import unittest

import grpc

from support.calls import Client, refusal_of
from support.server_process import ServerProcess
from support.stubs import tensor_pb2
from support.wire import chunk, integer, packed

INVALID = grpc.StatusCode.INVALID_ARGUMENT
NOT_FOUND = grpc.StatusCode.NOT_FOUND
FAILED_PRECONDITION = grpc.StatusCode.FAILED_PRECONDITION
UNIMPLEMENTED = grpc.StatusCode.UNIMPLEMENTED
LARGEST_TEXT = 1024


def setUpModule():
    global client, server
    server = unittest.enterModuleContext(ServerProcess())
    client = unittest.enterModuleContext(Client(server.address))


def request(**fields):
    """A good request of (2, 3) ids with some fields replaced."""
    good = {"model": "demo-learned", "ids": [1, 2, 3, 4, 5, 6], "batch_size": 2, "sequence_length": 3}
    return {**good, **fields}


def raw_ids(data, shape, data_type=tensor_pb2.DATA_TYPE_INT32):
    return tensor_pb2.Tensor(data_type=data_type, shape=shape, data=data)


# name: (fields, code, reason, what the text must contain)
REFUSALS = {
    "model missing": (request(model=""), NOT_FOUND, "MODEL_NOT_FOUND", ()),
    "model unknown": (
        request(model="nobody"),
        NOT_FOUND,
        "MODEL_NOT_FOUND",
        ('"nobody"', "demo-learned", "demo-rotary", "demo-sinusoidal"),
    ),
    "model name of 100 kB": (request(model="m" * 100_000), NOT_FOUND, "MODEL_NOT_FOUND", ("mmm",)),
    "version unknown": (request(model_version="7"), NOT_FOUND, "VERSION_NOT_FOUND", ('"7"',)),
    "too few ids": (request(ids=[1, 2, 3, 4, 5]), INVALID, "INVALID_SHAPE", ("5", "6")),
    "too many ids": (request(ids=[1] * 7), INVALID, "INVALID_SHAPE", ("7", "6")),
    "no ids": (request(ids=[]), INVALID, None, ("ids",)),
    "T of 0": (request(ids=[], sequence_length=0), INVALID, "INVALID_SHAPE", ("sequence_length", "0")),
    "T negative": (request(sequence_length=-3), INVALID, "INVALID_SHAPE", ("sequence_length", "-3")),
    "B negative": (request(batch_size=-2), INVALID, "INVALID_SHAPE", ("batch_size", "-2")),
    "B times T overflows": (
        request(batch_size=4096, sequence_length=2**62),
        INVALID,
        "INVALID_SHAPE",
        ("sequence_length",),
    ),
    "T past the position table": (
        request(ids=[1] * 129, batch_size=1, sequence_length=129),
        INVALID,
        "SEQUENCE_TOO_LONG",
        ('sequence_length 129 exceeds max_context_length 128 of model "demo-learned"',),
    ),
    "offset negative": (
        request(position_offsets=[-1]),
        INVALID,
        "POSITION_OUT_OF_RANGE",
        ("position_offsets[0]", "-1"),
    ),
    "offsets neither one nor B": (
        request(position_offsets=[0] * 3),
        INVALID,
        "INVALID_SHAPE",
        ("position_offsets", "3"),
    ),
    "position id at L": (
        request(position_ids=[0, 1, 2, 3, 4, 128]),
        INVALID,
        "POSITION_OUT_OF_RANGE",
        ("position_ids[1][2] = 128", "[0, 128)"),
    ),
    "position ids and offsets": (
        request(position_ids=[0, 1, 2], position_offsets=[1]),
        INVALID,
        "INVALID_OPTION",
        ("position_ids", "position_offsets"),
    ),
    "unknown part": (request(part=77), INVALID, "UNKNOWN_ENUM_VALUE", ("part", "77")),
    "unknown output type": (request(output_type=77), INVALID, "UNKNOWN_ENUM_VALUE", ("output_type", "77")),
    "output type of ids": (request(output_type=tensor_pb2.DATA_TYPE_INT64), INVALID, None, ("output_type",)),
    "ids twice": (
        request(ids_tensor=raw_ids(bytes(24), [2, 3])),
        INVALID,
        "INVALID_OPTION",
        ("ids", "ids_tensor"),
    ),
    "ids tensor of floats": (
        request(ids=[], ids_tensor=raw_ids(bytes(24), [2, 3], tensor_pb2.DATA_TYPE_FLOAT32)),
        INVALID,
        None,
        ("ids_tensor",),
    ),
    "ids tensor with bytes missing": (
        request(ids=[], ids_tensor=raw_ids(bytes(23), [2, 3])),
        INVALID,
        "INVALID_SHAPE",
        ("23", "24"),
    ),
    "ids tensor of rank 1": (
        request(ids=[], ids_tensor=raw_ids(bytes(24), [6])),
        INVALID,
        "INVALID_SHAPE",
        ("ids_tensor",),
    ),
    "ids tensor whose shape says otherwise": (
        request(ids=[], ids_tensor=raw_ids(bytes(24), [3, 2])),
        INVALID,
        "INVALID_SHAPE",
        (),
    ),
    "positions of a model without": (
        {"model": "demo-rotary", "batch_size": 1, "sequence_length": 1, "part": 3},
        FAILED_PRECONDITION,
        "NO_POSITION_TABLE",
        ('"demo-rotary"',),
    ),
    "distinct rows of the sum": (request(unique=True), INVALID, "INVALID_OPTION", ("unique", "TOKEN")),
    "tables that have changed": (
        request(if_checksum="cd" * 32),
        FAILED_PRECONDITION,
        "TABLES_CHANGED",
        ("demo-learned", '"' + "cd" * 32 + '"'),
    ),
}


class ErrorsTest(unittest.TestCase):
    def assert_refused(self, refusal, code, reason, parts):
        self.assertEqual(refusal.code, code, refusal.text)
        self.assertTrue(refusal.has_details, "no grpc-status-details-bin")
        self.assertEqual((refusal.status_code, refusal.status_text), (code.value[0], refusal.text))
        self.assertEqual(refusal.domain, "embd.v1")
        if reason is None:
            self.assertRegex(refusal.reason, "^[A-Z][A-Z_]+$")
        else:
            self.assertEqual(refusal.reason, reason, refusal.text)
        for part in parts:
            self.assertIn(part, refusal.text)
        self.assertLessEqual(len(refusal.text.encode()), LARGEST_TEXT)
        self.assertNotRegex(refusal.text, r"^[A-Z][a-z]|\.$")
        self.assertIsNone(refusal.retry_info)

    def assert_serving(self):
        self.assertTrue(server.is_running())
        client.call(**request())

    def test_refusals_name_what_is_wrong_and_what_is_allowed(self):
        for name, (fields, code, reason, parts) in REFUSALS.items():
            with self.subTest(name):
                self.assert_refused(refusal_of(client.call, **fields), code, reason, parts)
                self.assert_serving()

    def test_id_out_of_range_names_its_cell(self):
        for bad in (-1, 320, 2**32 - 1, 2**32, 2**32 + 1, 2**63 - 1, -(2**63)):
            with self.subTest(id=bad):
                refusal = refusal_of(client.call, **request(ids=[1, 2, 3, 4, 5, bad]))

                text = f'ids[1][2] = {bad} is outside [0, 320) of model "demo-learned"'
                self.assert_refused(refusal, INVALID, "ID_OUT_OF_RANGE", (text,))
                self.assert_serving()

    def test_only_the_first_bad_id_is_named(self):
        refusal = refusal_of(client.call, **request(ids=[1, 2, 3, 999, 5, -1]))

        self.assertIn("ids[1][0] = 999", refusal.text)
        self.assertNotIn("-1", refusal.text)

    def test_bytes_that_are_no_request_are_refused(self):
        good = chunk(1, "demo-learned") + packed(2, [1, 2, 3]) + integer(3, 1) + integer(4, 3)
        cases = {
            "noise": b"\xff" * 40,
            "cut short": good[:-1],
            "length past the end": chunk(1, "demo-learned") + b"\x12\x7f\x01",
            "field number 0": b"\x00\x01",
            "group that never ends": good + b"\x7b",
            "model name that is not UTF-8": chunk(1, b"demo\xff\xfe") + good,
            "varint of eleven bytes": good + b"\x18" + b"\xff" * 10 + b"\x01",
        }
        for name, data in cases.items():
            with self.subTest(name):
                refusal = refusal_of(client.embed_bytes, data)

                self.assert_refused(refusal, INVALID, "MALFORMED_REQUEST", ())
                self.assert_serving()

    def test_quoted_names_are_escaped(self):
        refusal = refusal_of(client.call, **request(model='a"b\n\x1b[31m'))

        self.assertEqual(refusal.code, NOT_FOUND)
        self.assertNotIn("\n", refusal.text)
        self.assertNotIn("\x1b", refusal.text)

    def test_connections_that_do_not_speak_grpc_do_no_harm(self):
        host, _, port = server.address.rpartition(":")
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        for data in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", bytes(1000), preface + b"\xff" * 99):
            with self.subTest(data[:14]), socket.create_connection((host, int(port)), timeout=60) as connection:
                connection.sendall(data)

                self.assert_serving()

    def test_unknown_method_is_unimplemented(self):
        call = client.channel.unary_unary("/embd.v1.EmbeddingService/Nothing")

        self.assertEqual(refusal_of(call, b"", timeout=60).code, UNIMPLEMENTED)


if __name__ == "__main__":
    unittest.main()
