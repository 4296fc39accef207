"""Embeddings that a Python client receives, against the same sums and roundings in numpy, bit for bit."""

import unittest

import numpy as np

from support.arrays import round_to_bfloat16, to_array, to_tensor
from support.calls import PART_TOKEN, Client
from support.server_process import ServerProcess
from support.stubs import tensor_pb2

V, D, L = 320, 64, 128
WITH_POSITIONS = ("demo-learned", "demo-sinusoidal")
ALL = WITH_POSITIONS + ("demo-rotary",)


def setUpModule():
    global client, tokens, positions
    server = unittest.enterModuleContext(ServerProcess())
    client = unittest.enterModuleContext(Client(server.address))
    tokens = {name: client.embed(name, np.arange(V).reshape(1, V), part=PART_TOKEN)[0] for name in ALL}
    positions = {name: client.positions(name, 1, L)[0] for name in WITH_POSITIONS}


def random_ids(batch_size, sequence_length, seed=7):
    return np.random.default_rng(seed).integers(0, V, (batch_size, sequence_length))


def composed(model, ids, position_ids=None):
    """What numpy makes of the two tables: float32 rows, one float32 sum."""
    if model not in WITH_POSITIONS:
        return tokens[model][ids]
    rows = np.arange(ids.shape[1]) if position_ids is None else position_ids
    return tokens[model][ids] + positions[model][rows]


class ValuesTest(unittest.TestCase):
    def assert_same_bits(self, actual, expected):
        self.assertEqual(actual.dtype, expected.dtype)
        self.assertEqual(actual.shape, expected.shape)
        self.assertEqual(actual.tobytes(), np.ascontiguousarray(expected).tobytes())

    def test_parts_are_drawn_with_the_documented_spread(self):
        for model in ALL:
            with self.subTest(model=model):
                self.assertAlmostEqual(float(tokens[model].std()), 0.02, delta=0.001)
        self.assertFalse(np.array_equal(tokens["demo-learned"][:L], positions["demo-learned"]))

    def test_composed_is_token_plus_position(self):
        for model in ALL:
            for shape in ((1, 1), (1, L), (2, 3), (7, 65)):
                with self.subTest(model=model, shape=shape):
                    ids = random_ids(*shape)

                    self.assert_same_bits(client.embed(model, ids), composed(model, ids))

    def test_float16_is_the_float32_sum_rounded_once(self):
        for model in ALL:
            with self.subTest(model=model):
                ids = random_ids(5, 33)

                half = client.embed(model, ids, output_type=tensor_pb2.DATA_TYPE_FLOAT16)

                self.assert_same_bits(half, composed(model, ids).astype(np.float16))

    def test_bfloat16_is_the_float32_sum_rounded_once(self):
        for model in ALL:
            with self.subTest(model=model):
                ids = random_ids(5, 33)

                brain = client.embed(model, ids, output_type=tensor_pb2.DATA_TYPE_BFLOAT16)

                self.assert_same_bits(brain, round_to_bfloat16(composed(model, ids)))

    def test_sinusoidal_rows_follow_the_formula(self):
        p = np.arange(L, dtype=np.float64)[:, None]
        angle = p / 10000.0 ** (np.arange(0, D, 2) / D)
        expected = np.empty((L, D))
        expected[:, 0::2], expected[:, 1::2] = np.sin(angle), np.cos(angle)

        # Rounding of the double value to float32: half a unit in the last place of a value up to 1, and the angle's own
        # rounding in double, which is far smaller.
        self.assertLessEqual(np.abs(positions["demo-sinusoidal"] - expected).max(), 2.0**-25 + 1e-12)

    def test_one_offset_moves_every_row(self):
        for model in WITH_POSITIONS:
            with self.subTest(model=model):
                ids = random_ids(3, 20)

                actual = client.embed(model, ids, position_offsets=[100])

                self.assert_same_bits(actual, composed(model, ids, np.arange(100, 120)))

    def test_offsets_a_row_move_each_by_its_own(self):
        for model in WITH_POSITIONS:
            with self.subTest(model=model):
                ids = random_ids(3, 20)
                offsets = np.array([0, 108, 5])

                actual = client.embed(model, ids, position_offsets=offsets.tolist())

                self.assert_same_bits(actual, composed(model, ids, offsets[:, None] + np.arange(20)))

    def test_position_ids_for_all_rows_and_for_each_cell(self):
        for model in WITH_POSITIONS:
            for shape in ((20,), (3, 20)):
                with self.subTest(model=model, shape=shape):
                    ids = random_ids(3, 20)
                    rows = np.random.default_rng(3).integers(0, L, shape)

                    actual = client.embed(model, ids, position_ids=rows.ravel().tolist())

                    self.assert_same_bits(actual, composed(model, ids, rows))

    def test_ids_tensor_of_every_integer_type(self):
        types = (tensor_pb2.DATA_TYPE_INT32, tensor_pb2.DATA_TYPE_INT64, tensor_pb2.DATA_TYPE_UINT32)
        for data_type in types:
            with self.subTest(data_type=tensor_pb2.DataType.Name(data_type)):
                ids = random_ids(4, 9)

                reply = client.call(model="demo-learned", ids_tensor=to_tensor(data_type, ids))

                self.assert_same_bits(to_array(reply.embeddings), composed("demo-learned", ids))

    def test_row_of_a_batch_equals_the_row_alone(self):
        ids = random_ids(64, L)

        batch = client.embed("demo-learned", ids)

        for row in (0, 31, 63):
            self.assert_same_bits(batch[row : row + 1], client.embed("demo-learned", ids[row : row + 1]))

    def test_empty_batch_gives_an_empty_tensor_with_its_shape(self):
        reply = client.call(model="demo-learned", batch_size=0, sequence_length=5)

        self.assertEqual(list(reply.embeddings.shape), [0, 5, D])
        self.assertEqual(reply.embeddings.data, b"")

    def test_reply_says_which_model_answered(self):
        reply = client.call(model="demo-learned", ids=[1], batch_size=1, sequence_length=1)

        self.assertEqual((reply.model, reply.model_version, reply.generation), ("demo-learned", "1", 1))
        self.assertRegex(reply.checksum, "^[0-9a-f]{64}$")


if __name__ == "__main__":
    unittest.main()
