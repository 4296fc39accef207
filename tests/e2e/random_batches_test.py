"""Random models, batches, bags and rotations of a fixed seed against numpy; broken requests against the rules.

Another seed, for an hour of fuzzing by hand: RANDOM_BATCHES_SEED=7 RANDOM_BATCHES_ROUNDS=50. RANDOM_BATCHES_TOLD=1
tells how many requests were refused for which rule, and in which order rules go before each other.
"""

import collections
import os
import pathlib
import random
import tempfile
import types
import unittest

import grpc

from random_batches import (
    bags,
    batches,
    broken,
    broken_rotations,
    elements,
    expected,
    meaning,
    models,
    refusal,
    refusal_of_bags,
    refusal_of_rotations,
    rotations,
)
from random_batches.faults import World
from random_batches.precedence import Precedence
from random_batches.rotary_formulas import KINDS
from support.calls import Client, Refusal
from support.server_process import ServerProcess
from support.stubs import diagnostics_pb2, diagnostics_pb2_grpc, embedding_pb2, rotary_pb2

SEED = int(os.environ.get("RANDOM_BATCHES_SEED", "2029"))
ROUNDS = int(os.environ.get("RANDOM_BATCHES_ROUNDS", "1"))
MODELS, BATCHES_A_MODEL, BROKEN_A_MODEL = 30, 20, 80
BAGS, BROKEN_BAGS = 300, 600
ROTATIONS_A_KIND, TURNS_A_ROTATION, BROKEN_TURNS = 3, 8, 100
CODES = {code.value[0]: code for code in grpc.StatusCode}


def setUpModule():
    global client, server, maker, turned_models, world
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
    world = what_is_served()


def what_is_served():
    """The World of the oracle; only the checksums are the server's word."""
    diagnostics = diagnostics_pb2_grpc.DiagnosticsServiceStub(client.channel)
    named = {model.name: model for model in maker.models}
    checksums = {
        name: diagnostics.DescribeModel(diagnostics_pb2.DescribeModelRequest(model=name)).checksum for name in named
    }
    for name, rotation in turned_models.items():
        turned = rotations.parameters(rotation)
        if not rotation.kind:
            turned.ClearField("scaling")
        named[name] = models.Model(name, 4, 2, encoding="rotary", turned=turned)
    return World(named, maker.names(), checksums, types.SimpleNamespace(**models.LIMITS))


def rounds(purpose):
    """A generator a round; each test has its own, so that none depends on another."""
    return [random.Random(f"{SEED} {purpose} {number}") for number in range(ROUNDS)]


def answer_of(call, request):
    """The reply of a call, or (code, reason, text) of its refusal."""
    try:
        return call(request, timeout=60)
    except grpc.RpcError as error:
        refused = Refusal(error)
        return refused.code, refused.reason, refused.text


def outcome(request):
    """What Embed makes of a request: (code, reason, text), or (OK, the reply's bytes)."""
    came = answer_of(client.embedding.Embed, request)
    return came if isinstance(came, tuple) else (grpc.StatusCode.OK, came.SerializeToString(deterministic=True))


def assert_named(test, came, faults, precedence):
    """Whether a request had to be refused; what came must then be one of its faults."""
    named = {(fault.code, fault.reason, fault.text): fault.rule for fault in faults}
    if faults:
        test.assertIn(came, named)
        precedence.note(named[came], faults)
    else:
        test.assertFalse(isinstance(came, tuple) and came[0] != grpc.StatusCode.OK, came)
    return bool(faults)


def finish(test, precedence):
    """Rules go before others in one order, and those of the fixed seed are all named once."""
    test.assertIsNone(precedence.cycle())
    if "RANDOM_BATCHES_SEED" not in os.environ:
        test.assertEqual(precedence.never_named(), set())
    test.assertTrue(server.is_running())
    if "RANDOM_BATCHES_TOLD" in os.environ:
        print("\nrefused for:", dict(precedence.named.most_common()))
        print("in the order:", ", ".join(precedence.order()))


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
        for rule in (
            *("norm", "zero_masked", "saturate", "dropout_mask_id"),
            *("position_first", "shares_tokens", "trained"),
        ):
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
                        self.assertEqual(refusal.faults_of(world, request), [])
                        self.assertIsNone(expected.fault(model, meaning.batch_of(request), actual))

    def test_broken_requests_are_refused_by_the_rule_they_break_and_alike_by_the_stream(self):
        counts, precedence = collections.Counter(), Precedence()
        for draw in rounds("broken"):
            for model in maker.models:
                requests = [batches.draw(draw, model)[0] for _ in range(BROKEN_A_MODEL)]
                for request in requests:
                    broken.spoil(draw, request, model)

                outcomes = [outcome(request) for request in requests]

                for number, request in enumerate(requests):
                    with self.subTest(model=model.name, number=number):
                        faults = refusal.faults_of(world, request)
                        counts[len(faults)] += 1
                        self._check(request, faults, outcomes[number], precedence)
                self.assertEqual(stream(requests), outcomes, model.name)
        if "RANDOM_BATCHES_TOLD" in os.environ:
            print("\nrequests by the number of rules they break:", dict(sorted(counts.items())))
        finish(self, precedence)

    def _check(self, request, faults, came, precedence):
        """What came of a request must be one of its faults, or, without any, what numpy computes."""
        if assert_named(self, came, faults, precedence):
            return
        reply, batch = embedding_pb2.EmbedResponse.FromString(came[1]), meaning.batch_of(request)
        if request.unique:
            ids = [reply.unique_ids[i] for i in reply.inverse]
            self.assertEqual(ids, meaning.ids_of(request))
            self.assertEqual(list(reply.unique_ids), batch.ids)
        model = world.models[request.model]
        self.assertIsNone(expected.fault(model, batch, elements.from_wire(reply.embeddings, batch.output)))


class RandomBagsTest(unittest.TestCase):
    def test_bags_are_pooled_as_numpy_pools_them(self):
        for draw in rounds("bags"):
            for number in range(BAGS):
                request = bags.draw(draw, maker.models)
                with self.subTest(number=number):
                    self.assertEqual(refusal_of_bags.faults_of(world, request), [])
                    self._compare(request, client.embedding.EmbedBags(request, timeout=60))

    def _compare(self, request, reply):
        output, vectors = bags.expected(world.models, request)
        self.assertEqual(list(reply.models), [bag.model for bag in request.bags])
        self.assertEqual(list(reply.checksums), [world.checksums[bag.model] for bag in request.bags])
        self.assertEqual(len(reply.embeddings), len(vectors))
        for actual, exact in zip(reply.embeddings, vectors):
            self.assertTrue(elements.same(elements.from_wire(actual, output), exact, output), request)

    def test_broken_bags_are_refused_by_the_rule_they_break(self):
        precedence = Precedence()
        for draw in rounds("broken bags"):
            for number in range(BROKEN_BAGS):
                request = bags.draw(draw, maker.models)
                refusal_of_bags.spoil(draw, request)
                with self.subTest(number=number):
                    faults = refusal_of_bags.faults_of(world, request)
                    came = answer_of(client.embedding.EmbedBags, request)
                    if not assert_named(self, came, faults, precedence):
                        self._compare(request, came)
        finish(self, precedence)


class RandomRotationsTest(unittest.TestCase):
    def each(self, purpose, times=TURNS_A_ROTATION, by_model=0.5):
        """(generator, rotation, a function that names it in a request: as parameters, or as a model)."""
        for draw in rounds(purpose):
            for name, rotation in turned_models.items():
                for number in range(times):
                    with self.subTest(model=name, number=number):
                        yield draw, rotation, self._naming(name, rotation, draw.random() < by_model)

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

            request = rotary_pb2.RotaryTableRequest(
                first_position=first, length=length, scaling_length=scaling_length, **naming
            )
            reply = client.embedding.RotaryTable(request, timeout=60)

            self._compare_table(reply, rotation, request)

    def _compare_table(self, reply, rotation, request):
        end = request.first_position + request.length
        positions, scaling_length = range(request.first_position, end), request.scaling_length or end
        cos, sin, factor = rotations.table(rotation, positions, scaling_length)
        self.assertEqual(reply.attention_factor, factor)
        for actual, exact in ((reply.cos, cos), (reply.sin, sin)):
            self.assertTrue(elements.same(elements.from_wire(actual, "float32"), exact, "float32"), request)

    def _compare_turn(self, reply, request):
        self.assertEqual(list(reply.vectors.shape), list(request.vectors.shape))
        if not request.vectors.data:  # whose shape may be one that numpy cannot have
            self.assertEqual(reply.vectors.data, b"")
            return
        turn = refusal_of_rotations.turn_of(world, request)
        actual = elements.from_wire(reply.vectors, turn.output)
        self.assertTrue(elements.same(actual, rotations.turned(turn), turn.output), request)

    def test_broken_calls_are_refused_by_the_rule_they_break(self):
        precedence, names = Precedence(), [model.name for model in maker.models]
        for draw, rotation, naming in self.each("broken rotations", BROKEN_TURNS, by_model=0.2):
            request, _ = rotations.draw_turn(draw, rotation)
            request.MergeFrom(rotary_pb2.RotateRequest(**naming))
            broken_rotations.spoil(draw, request, names)
            came = answer_of(client.embedding.Rotate, request)
            if not assert_named(self, came, refusal_of_rotations.faults_of_turn(world, request), precedence):
                self._compare_turn(came, request)

            request = rotary_pb2.RotaryTableRequest(first_position=draw.choice((0, 9000)), length=9, **naming)
            broken_rotations.spoil(draw, request, names)
            faults = refusal_of_rotations.faults_of_table(world, request)
            came = answer_of(client.embedding.RotaryTable, request)
            if not assert_named(self, came, faults, precedence):
                self._compare_table(came, refusal_of_rotations.rotation_of(world, request, []), request)
        finish(self, precedence)


if __name__ == "__main__":
    unittest.main()
