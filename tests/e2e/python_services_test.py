"""Health, reflection and diagnostics as a stock Python client uses them."""

import hashlib
import unittest

import grpc
import numpy as np
from google.protobuf import descriptor_pb2

from support.calls import PART_TOKEN, Client, refusal_of
from support.oip import pb as grpc_service_pb2
from support.server_process import ServerProcess
from support.stubs import (
    diagnostics_pb2,
    diagnostics_pb2_grpc,
    embedding_pb2,
    health_pb2,
    health_pb2_grpc,
    reflection_pb2,
    reflection_pb2_grpc,
    table_pb2,
    tensor_pb2,
)

V, D, L = 320, 64, 128
SERVICES = (
    "embd.v1.EmbeddingService",
    "embd.v1.DiagnosticsService",
    "embd.v1.AdminService",
    "inference.GRPCInferenceService",
)


def setUpModule():
    global client, diagnostics, health, reflection
    server = unittest.enterModuleContext(ServerProcess())
    client = unittest.enterModuleContext(Client(server.address))
    diagnostics = diagnostics_pb2_grpc.DiagnosticsServiceStub(client.channel)
    health = health_pb2_grpc.HealthStub(client.channel)
    reflection = reflection_pb2_grpc.ServerReflectionStub(client.channel)


class HealthTest(unittest.TestCase):
    def test_server_and_each_service_are_serving(self):
        for service in ("",) + SERVICES:
            with self.subTest(service=service):
                reply = health.Check(health_pb2.HealthCheckRequest(service=service), timeout=60)

                self.assertEqual(reply.status, health_pb2.HealthCheckResponse.SERVING)

    def test_unknown_service_is_not_found(self):
        refusal = refusal_of(health.Check, health_pb2.HealthCheckRequest(service="nobody"), timeout=60)

        self.assertEqual(refusal.code, grpc.StatusCode.NOT_FOUND)

    def test_watch_tells_the_state_at_once(self):
        watch = health.Watch(health_pb2.HealthCheckRequest(), timeout=60)

        self.assertEqual(next(watch).status, health_pb2.HealthCheckResponse.SERVING)
        watch.cancel()


def comparable(file):
    """A descriptor without what depends on the library that wrote it, and on who keeps the file."""
    file.ClearField("name")
    file.ClearField("options")
    pending = list(file.message_type)
    while pending:
        message = pending.pop()
        pending += message.nested_type
        for field in message.field:
            field.ClearField("json_name")
    return file


class ReflectionTest(unittest.TestCase):
    def ask(self, **fields):
        (answer,) = reflection.ServerReflectionInfo(
            iter([reflection_pb2.ServerReflectionRequest(**fields)]), timeout=60
        )
        return answer

    def test_lists_every_service(self):
        names = {service.name for service in self.ask(list_services="").list_services_response.service}

        self.assertLessEqual({*SERVICES, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}, names)

    def test_descriptors_are_those_of_the_proto_files(self):
        for symbol, module in (
            ("embd.v1.EmbeddingService", embedding_pb2),
            ("inference.GRPCInferenceService", grpc_service_pb2),
            ("grpc.health.v1.Health", health_pb2),
        ):
            with self.subTest(symbol=symbol):
                answer = self.ask(file_containing_symbol=symbol)
                files = [
                    descriptor_pb2.FileDescriptorProto.FromString(data)
                    for data in answer.file_descriptor_response.file_descriptor_proto
                ]

                ours = descriptor_pb2.FileDescriptorProto()
                module.DESCRIPTOR.CopyToProto(ours)
                served = next(file for file in files if file.package == ours.package and file.service)
                self.assertEqual(comparable(served), comparable(ours))


class DiagnosticsTest(unittest.TestCase):
    def test_models_are_listed_by_name(self):
        models = diagnostics.ListModels(diagnostics_pb2.ListModelsRequest(), timeout=60).models

        self.assertEqual([m.name for m in models], ["demo-learned", "demo-rotary", "demo-sinusoidal"])
        self.assertEqual({(m.vocab_size, m.embedding_dim) for m in models}, {(V, D)})
        self.assertEqual([m.HasField("max_context_length") for m in models], [True, False, True])

    def test_parameters_count_what_is_trained(self):
        learned = self.describe("demo-learned")
        sinusoidal = self.describe("demo-sinusoidal")

        self.assertEqual(learned.parameter_count, V * D + L * D)
        self.assertEqual(sinusoidal.parameter_count, V * D)
        self.assertEqual([t.element_count for t in sinusoidal.tables], [V * D, L * D])

    def test_checksums_are_those_of_the_rows_that_are_served(self):
        for model in ("demo-learned", "demo-sinusoidal"):
            with self.subTest(model=model):
                description = self.describe(model)
                rows = [
                    client.embed(model, np.arange(V).reshape(1, V), part=PART_TOKEN),
                    client.positions(model, 1, L),
                ]

                sums = [hashlib.sha256(table.tobytes()).hexdigest() for table in rows]
                lines = f"token float32 {V}x{D} {sums[0]}\nposition float32 {L}x{D} {sums[1]}\n"
                self.assertEqual([table.checksum for table in description.tables], sums)
                self.assertEqual(description.checksum, hashlib.sha256(lines.encode()).hexdigest())

    def test_neighbour_curve_equals_numpy_in_double(self):
        for model in ("demo-learned", "demo-sinusoidal"):
            with self.subTest(model=model):
                reply = diagnostics.NeighbourSimilarity(
                    diagnostics_pb2.NeighbourSimilarityRequest(model=model, max_offset=16), timeout=60
                )

                rows = client.positions(model, 1, L)[0].astype(np.float64)
                rows /= np.linalg.norm(rows, axis=1, keepdims=True)
                cosines = [(rows[:-k] * rows[k:]).sum(axis=1) for k in range(1, 17)]
                self.assertEqual(reply.rows, L)
                np.testing.assert_allclose(reply.mean_cosine, [c.mean() for c in cosines], rtol=0, atol=1e-12)
                np.testing.assert_allclose(reply.min_cosine, [c.min() for c in cosines], rtol=0, atol=1e-12)
                np.testing.assert_allclose(reply.max_cosine, [c.max() for c in cosines], rtol=0, atol=1e-12)

    def test_closed_form_of_the_sinusoidal_curve(self):
        reply = diagnostics.NeighbourSimilarity(
            diagnostics_pb2.NeighbourSimilarityRequest(
                model="demo-sinusoidal", table=table_pb2.TABLE_KIND_POSITION, max_offset=8
            ),
            timeout=60,
        )

        frequencies = 10000.0 ** -(np.arange(0, D, 2) / D)
        expected = [2 / D * np.cos(k * frequencies).sum() for k in range(1, 9)]
        np.testing.assert_allclose(reply.closed_form, expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(reply.mean_cosine, expected, rtol=0, atol=1e-6)

    def test_words_of_a_model_without_vocabulary_are_refused(self):
        refusal = refusal_of(
            diagnostics.LookUpTokens,
            diagnostics_pb2.LookUpTokensRequest(model="demo-learned", tokens=["king"]),
            timeout=60,
        )

        self.assertEqual(refusal.code, grpc.StatusCode.FAILED_PRECONDITION)
        self.assertEqual(refusal.reason, "NO_VOCABULARY")

    def test_server_info_tells_version_and_limits(self):
        info = diagnostics.GetServerInfo(diagnostics_pb2.GetServerInfoRequest(), timeout=60)

        self.assertRegex(info.version, r"^\d+\.\d+\.\d+")
        self.assertGreaterEqual(info.api_revision, 1)
        self.assertIn("embed_stream", info.capabilities)
        self.assertEqual(info.limits.max_request_bytes, 64 << 20)
        self.assertEqual(info.limits.max_batch_size, 4096)

    def describe(self, model):
        reply = diagnostics.DescribeModel(diagnostics_pb2.DescribeModelRequest(model=model), timeout=60)
        self.assertEqual({table.data_type for table in reply.tables}, {tensor_pb2.DATA_TYPE_FLOAT32})
        return reply


if __name__ == "__main__":
    unittest.main()
