"""Random models, batches and rotations of a fixed seed against numpy; and broken requests, which must be refused alike.

Another seed, for an hour of fuzzing by hand: RANDOM_BATCHES_SEED=7 RANDOM_BATCHES_ROUNDS=50.
"""

import os
import pathlib
import random
import tempfile
import unittest

import grpc

from random_batches import batches, broken, elements, expected, models, rotations
from random_batches.rotary_formulas import KINDS
from support.calls import Client, Refusal
from support.server_process import ServerProcess
from support.stubs import embedding_pb2, rotary_pb2

SEED = int(os.environ.get("RANDOM_BATCHES_SEED", "2026"))
ROUNDS = int(os.environ.get("RANDOM_BATCHES_ROUNDS", "1"))
MODELS, BATCHES_A_MODEL, BROKEN_A_MODEL = 30, 20, 16
ROTATIONS_A_KIND, TURNS_A_ROTATION = 3, 8
REFUSALS = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.UNIMPLEMENTED,
}
CODES = {code.value[0]: code for code in grpc.StatusCode}


def setUpModule():
    global client, server, maker, turned_models
    draw = random.Random(SEED)
    maker = models.ModelMaker(draw, pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory())))
    for _ in range(MODELS):
        maker.add()
    kinds = KINDS * ROTATIONS_A_KIND
    turned_models = {f"rotary-{i}": rotations.draw_rotation(draw, kind) for i, kind in enumerate(kinds)}
    for name, rotation in turned_models.items():
        maker.add_entry({"name": name, "token": rotations.TOKEN, "position": {"rotary": rotations.entry(rotation)}})
    server = unittest.enterModuleContext(ServerProcess(config=maker.yaml()))
    client = unittest.enterModuleContext(Client(server.address))
    maker.fetch_tables(client)


def rounds(purpose):
    """A generator a round; each test has its own, so that none depends on another."""
    return [random.Random(f"{SEED} {purpose} {number}") for number in range(ROUNDS)]


def outcome(request):
    """What Embed makes of a request: (code, reason, text), or (OK, the reply's bytes)."""
    try:
        return grpc.StatusCode.OK, client.call_message(request).SerializeToString(deterministic=True)
    except grpc.RpcError as error:
        refusal = Refusal(error)
        return refusal.code, refusal.reason, refusal.text


def outcome_of_item(answer):
    if answer.HasField("response"):
        return grpc.StatusCode.OK, answer.response.SerializeToString(deterministic=True)
    return CODES[answer.error.code], answer.error.reason, answer.error.message


def stream(requests):
    """What EmbedStream makes of the same requests."""
    items = [embedding_pb2.EmbedStreamRequest(request=request).SerializeToString() for request in requests]
    return [outcome_of_item(answer) for answer in client.stream_bytes(items)]


class RandomBatchesTest(unittest.TestCase):
    @unittest.skipIf("RANDOM_BATCHES_SEED" in os.environ, "true of the seed that is fixed")
    def test_every_rule_is_drawn(self):
        drawn = {model.numbering for model in maker.models if model.rows}
        self.assertEqual(drawn, {"sequential", "fixed", "padding", "mask"})
        self.assertEqual({model.stored for model in maker.models}, set(elements.STORED))
        for rule in ("norm", "zero_masked", "dropout_mask_id", "position_first", "shares_tokens", "trained"):
            with self.subTest(rule=rule):
                self.assertTrue(any(getattr(model, rule) not in (None, False) for model in maker.models))

    def test_replies_are_what_numpy_computes(self):
        for draw in rounds("batches"):
            for model in maker.models:
                for number in range(BATCHES_A_MODEL):
                    request, batch = batches.draw(draw, model)
                    with self.subTest(model=model.name, number=number):
                        reply = client.call_message(request)

                        actual = elements.from_wire(reply.embeddings, batch.output)
                        self.assertIsNone(expected.fault(model, batch, actual))

    def test_broken_requests_are_refused_with_a_reason_and_alike_by_the_stream(self):
        for draw in rounds("broken"):
            for model in maker.models:
                requests = [batches.draw(draw, model)[0] for _ in range(BROKEN_A_MODEL)]
                for request in requests:
                    broken.spoil(draw, request)

                outcomes = [outcome(request) for request in requests]

                for number, (code, reason, *_) in enumerate(outcomes):
                    with self.subTest(model=model.name, number=number):
                        self.assertTrue(code == grpc.StatusCode.OK or (code in REFUSALS and reason), outcomes[number])
                self.assertEqual(stream(requests), outcomes, model.name)
        self.assertTrue(server.is_running())


class RandomRotationsTest(unittest.TestCase):
    def each(self, purpose):
        """(generator, rotation, a function that names it in a request: as parameters, or as a model)."""
        for draw in rounds(purpose):
            for name, rotation in turned_models.items():
                for number in range(TURNS_A_ROTATION):
                    with self.subTest(model=name, number=number):
                        yield draw, rotation, self._naming(name, rotation, draw.random() < 0.5)

    @staticmethod
    def _naming(name, rotation, by_model):
        if by_model:
            return {"model": name}
        return {"parameters": rotations.parameters(rotation)}

    def test_vectors_are_turned_as_numpy_turns_them(self):
        for draw, rotation, naming in self.each("turns"):
            request, turn = rotations.draw_turn(draw, rotation)
            request.MergeFrom(rotary_pb2.RotateRequest(**naming))

            reply = client.embedding.Rotate(request, timeout=60)

            actual = elements.from_wire(reply.vectors, turn.output)
            self.assertTrue(elements.same(actual, rotations.turned(turn), turn.output), turn)

    def test_tables_are_the_formulas_in_double(self):
        for draw, rotation, naming in self.each("tables"):
            first, length = draw.choice((0, 5, 9000, rotations.LAST_POSITION - 19)), draw.randint(1, 20)
            scaling_length = draw.choice((None, 1, 40, 5000, 2**24))

            reply = client.embedding.RotaryTable(
                rotary_pb2.RotaryTableRequest(
                    first_position=first, length=length, scaling_length=scaling_length, **naming
                ),
                timeout=60,
            )

            cos, sin, factor = rotations.table(
                rotation, range(first, first + length), scaling_length or first + length
            )
            self.assertEqual(reply.attention_factor, factor)
            for actual, exact in ((reply.cos, cos), (reply.sin, sin)):
                self.assertTrue(elements.same(elements.from_wire(actual, "float32"), exact, "float32"))


if __name__ == "__main__":
    unittest.main()
