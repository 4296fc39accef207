"""Every published family: folders made from a seed, inferred and served by `embd`, against an oracle of its own.

Ends with a table: family, folders, cases, and the largest difference in units in the last place.
"""

import pathlib
import subprocess
import tempfile
import unittest

import grpc
import numpy as np

from architectures.cases import Batches, Case
from architectures.checkpoints import all_checkpoints
from architectures.expected import Batch
from architectures.fleet import Fleet, configuration
from architectures.refusals import refusals
from architectures.scores import Scores
from support.arrays import round_to_bfloat16, to_array
from support.calls import DEADLINE_SECONDS, PART_POSITION, Client, refusal_of
from support.server_process import ServerProcess, binary, clean_environment
from support.stubs import diagnostics_pb2, diagnostics_pb2_grpc, embedding_pb2, tensor_pb2
from embd.v1 import rotary_pb2

ROUNDED = {
    tensor_pb2.DATA_TYPE_FLOAT16: lambda values: values.astype(np.float32).astype(np.float16).astype(np.float32),
    tensor_pb2.DATA_TYPE_BFLOAT16: lambda values: round_to_bfloat16(values.astype(np.float32)),
}
PADDED, PACKED = embedding_pb2.RAGGED_LAYOUT_PADDED, embedding_pb2.RAGGED_LAYOUT_PACKED
RIGHT, LEFT = embedding_pb2.PADDING_SIDE_RIGHT, embedding_pb2.PADDING_SIDE_LEFT


def setUpModule():
    global parent, checkpoints, client, diagnostics, refused, scores
    parent = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory(prefix="embd-architectures-")))
    checkpoints, scores = all_checkpoints(), Scores()
    for checkpoint in checkpoints:
        checkpoint.write(parent)
    fleet = unittest.enterModuleContext(Fleet(parent, checkpoints))
    client, refused = unittest.enterModuleContext(Client(fleet.address)), fleet.refused
    diagnostics = diagnostics_pb2_grpc.DiagnosticsServiceStub(client.channel)
    unittest.addModuleCleanup(scores.print)


class ArchitectureTest(unittest.TestCase):
    def for_each_folder(self, check):
        """Calls `check` of every folder that is served."""
        for checkpoint in checkpoints:
            if checkpoint.name not in refused:
                with self.subTest(family=checkpoint.family, model=checkpoint.name):
                    check(checkpoint)

    def describe(self, checkpoint):
        return diagnostics.DescribeModel(
            diagnostics_pb2.DescribeModelRequest(model=checkpoint.name), timeout=DEADLINE_SECONDS
        )

    def refusal(self, checkpoint, case):
        request = embedding_pb2.EmbedRequest(**case.request(checkpoint.name))
        return refusal_of(client.embedding.Embed, request, timeout=DEADLINE_SECONDS)


class ServingTest(ArchitectureTest):
    def test_every_folder_is_served(self):
        for checkpoint in checkpoints:
            text = refused.get(checkpoint.name, "")
            scores.folder(checkpoint.family, checkpoint.name, bool(text))
            with self.subTest(family=checkpoint.family, model=checkpoint.name):
                if checkpoint.may_be_refused is None:
                    self.assertEqual(text, "")
                elif text:
                    self.assertIn(checkpoint.may_be_refused, text)


    def test_a_folder_can_be_named_on_the_command_line(self):
        checkpoint = next(each for each in checkpoints if each.name == "gpt2")
        ids = np.array([[3, 1, 4, 1, 5]])

        with ServerProcess("--model", f"m={parent / checkpoint.name}") as server, Client(server.address) as direct:
            actual = direct.embed("m", ids)

        self.assertEqual(actual.tobytes(), checkpoint.stage.composed(Batch(ids)).values.tobytes())


class ValueTest(ArchitectureTest):
    def assert_near(self, where, actual, expected, compared=None):
        """That each value lies within what is allowed; returns the largest distance in ulp."""
        self.assertEqual(actual.shape, expected.values.shape, where)
        distance = np.abs(actual.astype(np.float64) - expected.values) / expected.ulp
        if compared is not None:
            distance *= compared[..., None]
        worst = np.unravel_index(np.argmax(distance), distance.shape)
        self.assertLessEqual(
            distance[worst],
            expected.allowed,
            f"{where}: cell {worst[0]}, {worst[1]}, component {worst[2]} is {actual[worst]!r}, not "
            f"{expected.values[worst]!r}",
        )
        return float(distance[worst])

    def test_float32(self):
        self.for_each_folder(self.check_float32)

    def check_float32(self, checkpoint):
        for case in Batches(checkpoint).all():
            actual = to_array(client.call(**case.request(checkpoint.name)).embeddings)
            expected, compared = case.expected(checkpoint.stage), checkpoint.stage.compared(case.batch)
            distance = self.assert_near(f"{checkpoint.name}: {case.name}", actual, expected, compared)
            scores.case(checkpoint.family, distance)

    def test_narrow_outputs_are_rounded_once(self):
        self.for_each_folder(self.check_narrow)

    def check_narrow(self, checkpoint):
        case = Batches(checkpoint).composed()[0]
        expected = case.expected(checkpoint.stage)
        slack = expected.ulp * expected.allowed
        for output_type, rounded in ROUNDED.items():
            actual = to_array(client.call(**case.request(checkpoint.name, output_type)).embeddings)
            low, high = rounded(expected.values - slack), rounded(expected.values + slack)
            self.assertTrue(np.all((low <= actual) & (actual <= high)), tensor_pb2.DataType.Name(output_type))
            scores.case(checkpoint.family)

    def test_ragged_rows_are_batches_of_their_own(self):
        self.for_each_folder(self.check_ragged)

    def check_ragged(self, checkpoint):
        lengths = [2, 0, 5]
        batches = Batches(checkpoint)
        rows = [batches.ids(1, length) for length in lengths]
        for layout, side in ((PADDED, RIGHT), (PADDED, LEFT), (PACKED, 0)):
            reply = client.call(
                model=checkpoint.name,
                ids=np.concatenate(rows, axis=1).ravel().tolist(),
                row_lengths=lengths,
                ragged_layout=layout,
                padding_side=side,
            )
            for number, vectors, padding in ragged_parts(to_array(reply.embeddings), lengths, layout, side):
                where = f"{checkpoint.name}: ragged, layout {layout}, side {side}, row {number}"
                if len(vectors):
                    self.assert_near(where, vectors[None], checkpoint.stage.composed(Batch(rows[number])))
                self.assertFalse(padding.any(), f"{where}: padding is not zero")
            scores.case(checkpoint.family)

    def test_sequences_longer_than_the_table_are_refused(self):
        self.for_each_folder(self.check_too_long)

    def check_too_long(self, checkpoint):
        if checkpoint.stage.encoding != "LEARNED":
            return
        refusal = self.refusal(checkpoint, Case("too long", Batch(Batches(checkpoint).ids(1, checkpoint.context + 1))))

        self.assertEqual(refusal.code, grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIn(f"{checkpoint.context} ", refusal.text)

    def test_parts_that_a_model_has_not_are_refused(self):
        self.for_each_folder(self.check_absent_parts)

    def check_absent_parts(self, checkpoint):
        ids = Batches(checkpoint).ids(1, 3)
        if checkpoint.stage.table_rows is None:
            refusal = self.refusal(checkpoint, Case("no positions", Batch(ids), PART_POSITION))
            self.assertEqual(refusal.code, grpc.StatusCode.FAILED_PRECONDITION)
        if not checkpoint.types:
            refusal = self.refusal(checkpoint, Case("no types", Batch(ids, types=np.zeros((1, 3), np.int64))))
            self.assertEqual(refusal.code, grpc.StatusCode.FAILED_PRECONDITION)


def ragged_parts(values, lengths, layout, side):
    """Number, vectors and padding of each ragged row of a reply."""
    first = 0
    for number, length in enumerate(lengths):
        if layout == PACKED:
            yield number, values[first : first + length], values[:0]
        elif side == LEFT:
            start = values.shape[1] - length
            yield number, values[number, start:], values[number, :start]
        else:
            yield number, values[number, :length], values[number, length:]
        first += length


class DescriptionTest(ArchitectureTest):
    def test_what_was_inferred_is_told(self):
        self.for_each_folder(self.check_description)

    def check_description(self, checkpoint):
        told, stage = self.describe(checkpoint), checkpoint.stage

        encoding = diagnostics_pb2.PositionEncoding.Name(told.position_encoding)
        self.assertEqual(encoding, f"POSITION_ENCODING_{stage.encoding}")
        self.assertEqual((told.vocab_size, told.embedding_dim), (checkpoint.vocab_size, checkpoint.dim))
        self.assertEqual(told.token_scale, float(stage.scale))
        self.assertEqual(told.HasField("layer_norm_eps"), stage.norm is not None)
        if stage.norm is not None:
            self.assertEqual(told.layer_norm_eps, stage.norm.eps)
        self.assertTrue(told.inferred_from)
        for value in told.inferred_from:
            self.assertTrue(value.key and value.source, value)


class RotaryTest(ArchitectureTest):
    def test_parameters_are_told(self):
        self.for_each_folder(self.check_parameters)

    def check_parameters(self, checkpoint):
        told = self.describe(checkpoint)
        self.assertEqual(told.HasField("rotary"), checkpoint.rotation is not None)
        if checkpoint.rotation is not None:
            self.assert_parameters(told.rotary, checkpoint.rotation)
        layers = {each.layer_type: each.parameters for each in told.rotary_layer_types}
        self.assertLessEqual(set(checkpoint.layer_rotations), set(layers))
        for layer_type, rotation in checkpoint.layer_rotations.items():
            self.assert_parameters(layers[layer_type], rotation)

    def assert_parameters(self, told, expected):
        self.assertEqual(told.head_dim, expected.head_dim)
        self.assertEqual(told.rotary_dim, expected.rotary_dim)
        self.assertEqual(told.theta, expected.theta)
        self.assertEqual(rotary_pb2.RotaryPairing.Name(told.pairing), expected.pairing)
        self.assertEqual(told.scaling.type or "default", expected.scaling["type"])
        for key, value in expected.scaling.items():
            # The length that a longrope model is used with may be told as a factor; its table shows which.
            if key != "type" and (expected.scaling["type"], key) != ("longrope", "max_position_embeddings"):
                field = getattr(told.scaling, key)
                self.assertEqual(list(field) if isinstance(value, list) else field, value, key)

    def test_tables(self):
        self.for_each_folder(self.check_tables)

    def check_tables(self, checkpoint):
        for layer_type, rotation in {"": checkpoint.rotation, **checkpoint.layer_rotations}.items():
            if rotation is not None:
                for first, length in ((0, 48), (100, 100)):
                    self.assert_table(checkpoint, layer_type, rotation, first, length)
                    scores.case(checkpoint.family)

    def assert_table(self, checkpoint, layer_type, rotation, first, length):
        reply = client.embedding.RotaryTable(
            rotary_pb2.RotaryTableRequest(
                model=checkpoint.name, layer_type=layer_type, first_position=first, length=length
            ),
            timeout=DEADLINE_SECONDS,
        )
        cos, sin, factor = rotation.table(first, length)
        self.assertAlmostEqual(reply.attention_factor, factor, delta=1e-12 * factor)
        for name, told, exact in (("cos", reply.cos, cos), ("sin", reply.sin, sin)):
            # One rounding to float32; the angle's own rounding in double is far smaller.
            distance = np.abs(to_array(told) - exact).max()
            self.assertLessEqual(distance, 2.0**-24 * max(factor, 1.0) + 1e-12, f"{name}, layer type {layer_type!r}")


class RefusalTest(unittest.TestCase):
    def test_folders_that_cannot_be_served_are_refused_by_name(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for refusal in refusals():
            with self.subTest(folder=refusal.name):
                refusal.write(folder)
                config = folder / "embd.yaml"
                config.write_text(configuration(folder, [refusal]), encoding="utf-8")

                done = subprocess.run(
                    [binary("embd"), "--listen", "127.0.0.1:0", "--config", str(config)],
                    env=clean_environment(),
                    capture_output=True,
                    text=True,
                    timeout=20,
                    check=False,
                )

                self.assertEqual(done.returncode, 1, done.stderr)
                for part in (refusal.name, *refusal.parts):
                    self.assertIn(part, done.stderr)


if __name__ == "__main__":
    unittest.main()
