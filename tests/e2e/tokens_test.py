"""Bearer tokens: which call needs which, what refusals say, tokens that change, and logs that never show one."""

import hashlib
import pathlib
import subprocess
import tempfile
import time
import unittest

import grpc

from support import oip
from support.calls import refusal_of
from support.server_process import STOP_SECONDS, ServerProcess, binary, clean_environment
from support.stubs import (
    admin_pb2,
    admin_pb2_grpc,
    diagnostics_pb2,
    diagnostics_pb2_grpc,
    embedding_pb2,
    embedding_pb2_grpc,
    health_pb2,
    health_pb2_grpc,
)

READ = "reader-token-0123456789"
ADMIN = "admin-token-9876543210"
HASHED = "hashed-token-abcdefghij"
UNKNOWN = "unknown-token-zyxwvutsr"
TOKENS = f"""# who may call
read  alice  {READ}
admin ops    {ADMIN}

read  bob    sha256:{hashlib.sha256(HASHED.encode()).hexdigest()}
"""
REQUEST = embedding_pb2.EmbedRequest(model="demo-learned", ids=[1, 2, 3], batch_size=1, sequence_length=3)
DEADLINE_SECONDS = 60
UNAUTHENTICATED = grpc.StatusCode.UNAUTHENTICATED
PERMISSION_DENIED = grpc.StatusCode.PERMISSION_DENIED


class Caller:
    """Calls with one value of the metadata `authorization`, or none."""

    def __init__(self, channel, value=None):
        self._channel = channel
        self._with = {"timeout": DEADLINE_SECONDS, "metadata": [("authorization", value)] if value else []}

    def embed(self):
        return embedding_pb2_grpc.EmbeddingServiceStub(self._channel).Embed(REQUEST, **self._with)

    def stream(self):
        items = iter([embedding_pb2.EmbedStreamRequest(request=REQUEST)])
        return list(embedding_pb2_grpc.EmbeddingServiceStub(self._channel).EmbedStream(items, **self._with))

    def chunks(self):
        request = embedding_pb2.EmbedChunksRequest(request=REQUEST)
        return list(embedding_pb2_grpc.EmbeddingServiceStub(self._channel).EmbedChunks(request, **self._with))

    def list_models(self):
        stub = diagnostics_pb2_grpc.DiagnosticsServiceStub(self._channel)
        return stub.ListModels(diagnostics_pb2.ListModelsRequest(), **self._with)

    def infer_metadata(self):
        return self.oip("ServerMetadata")

    def load(self):
        return self.oip("RepositoryModelLoad", model_name="demo-learned")

    def register_region(self):
        request = admin_pb2.RegisterRegionRequest()
        return admin_pb2_grpc.AdminServiceStub(self._channel).RegisterRegion(request, **self._with)

    def oip(self, method, **fields):
        stub = oip.grpc_service_pb2_grpc.GRPCInferenceServiceStub(self._channel)
        return getattr(stub, method)(getattr(oip.pb, method + "Request")(**fields), **self._with)

    def health(self):
        return health_pb2_grpc.HealthStub(self._channel).Check(health_pb2.HealthCheckRequest(), **self._with)

    reads = property(lambda self: (self.embed, self.stream, self.chunks, self.list_models, self.infer_metadata))
    admin = property(lambda self: (self.load, self.register_region))


class TokensTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.tokens = self.folder / "tokens"
        self.write(TOKENS)
        config = f"server: {{ model_control: explicit, tokens: {self.tokens} }}\n"
        self.server = self.enterContext(
            ServerProcess("--log-level", "trace", "--listen", f"unix:{self.folder}/s", config=config)
        )
        self.channel = self.enterContext(grpc.insecure_channel(self.server.address))

    def write(self, text):
        beside = self.folder / "tokens.new"
        beside.write_text(text, encoding="utf-8")
        beside.chmod(0o600)
        beside.rename(self.tokens)

    def caller(self, value=None, channel=None):
        return Caller(channel or self.channel, value)

    def assert_refused(self, call, code, *parts):
        refusal = refusal_of(call)
        self.assertEqual((refusal.code, refusal.reason), (code, code.name), refusal.text)
        for part in parts:
            self.assertIn(part, refusal.text)
        for secret in (READ, ADMIN, HASHED, UNKNOWN):
            self.assertNotIn(secret, refusal.text)

    def embdctl(self, *arguments, **environment):
        return subprocess.run(
            [binary("embdctl"), "--server", self.server.address, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
            check=False,
            env={**clean_environment(), **environment},
        )

    def test_read_token_reads(self):
        for token in (READ, HASHED, ADMIN):
            for call in self.caller(f"Bearer {token}").reads:
                call()
        self.caller(f"bEARER {READ}").embed()

    def test_no_token_is_unauthenticated_everywhere(self):
        over_unix = self.enterContext(grpc.insecure_channel(f"unix:{self.folder}/s"))
        for caller in (self.caller(), self.caller(channel=over_unix)):
            for call in (*caller.reads, *caller.admin):
                self.assert_refused(call, UNAUTHENTICATED, "authorization: Bearer TOKEN")

    def test_wrong_and_malformed_tokens_are_unauthenticated(self):
        digest = "sha256:" + hashlib.sha256(HASHED.encode()).hexdigest()
        for value in (f"Bearer {UNKNOWN}", f"Bearer {digest}", f"Basic {READ}", READ, "Bearer", "Bearer  "):
            for call in (*self.caller(value).reads, *self.caller(value).admin):
                self.assert_refused(call, UNAUTHENTICATED)

    def test_two_tokens_are_malformed(self):
        stub = embedding_pb2_grpc.EmbeddingServiceStub(self.channel)
        twice = [("authorization", f"Bearer {READ}")] * 2
        self.assert_refused(lambda: stub.Embed(REQUEST, metadata=twice), UNAUTHENTICATED)

    def test_read_token_on_admin_calls_is_denied_and_told_what_is_needed(self):
        caller = self.caller(f"Bearer {READ}")
        self.assert_refused(caller.load, PERMISSION_DENIED, "RepositoryModelLoad", "admin")
        self.assert_refused(caller.register_region, PERMISSION_DENIED, "RegisterRegion", "admin")

    def test_admin_token_loads_and_its_holder_is_logged(self):
        self.caller(f"Bearer {ADMIN}").load()
        self.server.await_log("RepositoryModelLoad is called by ops from")

    def test_health_and_liveness_need_none(self):
        self.caller().health()
        self.caller().oip("ServerLive")
        self.caller().oip("ModelReady", name="demo-learned")

    def test_embdctl_sends_the_token_of_a_file_or_of_the_variable(self):
        path = self.folder / "mine"
        path.write_text(READ + "\n", encoding="utf-8")
        embed = ("embed", "demo-learned", "--ids", "1 2 3")
        for chunks in ("never", "always"):
            done = self.embdctl(*embed, "--chunks", chunks, "--token-file", path)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.embdctl("models", EMBDCTL_TOKEN=READ).returncode, 0)
        self.assertEqual(self.embdctl("health").returncode, 0)
        bench = ("bench", "demo-learned", "--duration", "0.2", "--mode")
        for mode in ("unary", "stream", "async"):
            done = self.embdctl(*bench, mode, EMBDCTL_TOKEN=READ)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_embdctl_tells_refusals(self):
        for environment, code in (({}, "UNAUTHENTICATED"), ({"EMBDCTL_TOKEN": UNKNOWN}, "UNAUTHENTICATED")):
            done = self.embdctl("models", **environment)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(code, done.stderr)
            self.assertNotIn(UNKNOWN, done.stderr)
        done = self.embdctl("regions", EMBDCTL_TOKEN=READ)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("PERMISSION_DENIED", done.stderr)

    def test_changed_file_is_taken_up_and_a_bad_one_is_not(self):
        self.write(TOKENS + f"read carol {UNKNOWN}\n")
        end = time.monotonic() + STOP_SECONDS
        while True:
            try:
                self.caller(f"Bearer {UNKNOWN}").embed()
                break
            except grpc.RpcError:
                self.assertLess(time.monotonic(), end, self.server.log())

        self.write(f"read carol {UNKNOWN}\nroot eve {ADMIN}\n")
        self.server.await_log(f"the old one stays in use: {self.tokens}:2: the role must be read or admin")
        self.caller(f"Bearer {ADMIN}").load()

    def test_refused_calls_have_their_line_in_the_log(self):
        for call in self.caller().reads:
            self.assert_refused(call, UNAUTHENTICATED)
        for rpc in ("Embed", "EmbedStream", "EmbedChunks", "ListModels", "ServerMetadata"):
            self.assertRegex(self.server.log(), rf" rpc={rpc} .* code=UNAUTHENTICATED ")

    def test_log_never_shows_a_token(self):
        for token in (READ, ADMIN, HASHED, UNKNOWN):
            caller = self.caller(f"Bearer {token}")
            for call in (*caller.reads, *caller.admin):
                try:
                    call()
                except grpc.RpcError:
                    pass
        self.write(f"read alice {READ} {ADMIN}\n")
        self.server.await_log("the old one stays in use")
        log = self.server.log()
        self.assertIn("rpc=Embed", log)
        for token in (READ, ADMIN, HASHED, UNKNOWN):
            self.assertNotIn(token, log)
            self.assertNotIn(hashlib.sha256(token.encode()).hexdigest(), log)


class StartTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.tokens = self.folder / "tokens"

    def test_bad_file_stops_the_start_with_its_line_and_without_the_token(self):
        self.tokens.write_text(f"read alice {READ}\n\nadmin {ADMIN}\n", encoding="utf-8")
        done = subprocess.run(
            [binary("embd"), "--listen", "127.0.0.1:0", "--tokens", str(self.tokens)],
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
            check=False,
        )
        self.assertGreater(done.returncode, 0)
        self.assertIn(f"{self.tokens}:3: ", done.stderr)
        self.assertNotIn(ADMIN, done.stderr)

    def test_unwise_settings_are_warned_of(self):
        self.tokens.write_text(TOKENS, encoding="utf-8")
        self.tokens.chmod(0o644)
        with ServerProcess("--tokens", str(self.tokens), "--listen", "0.0.0.0:0", "--insecure") as server:
            server.await_log(f"{self.tokens} may be read by every user")
            server.await_log("tokens are sent to 0.0.0.0:0 without encryption")


if __name__ == "__main__":
    unittest.main()
