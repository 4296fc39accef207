"""TLS: who is let in, who is not and how that is said, which versions are spoken, and certificates that are renewed."""

import concurrent.futures
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest

import grpc

from support.calls import UNLIMITED, refusal_of
from support.certificates import Authority, Certificate, openssl
from support.server_process import START_SECONDS, ServerProcess, binary, clean_environment
from support.stubs import embedding_pb2, embedding_pb2_grpc

REQUEST = embedding_pb2.EmbedRequest(model="demo-learned", ids=[1, 2, 3], batch_size=1, sequence_length=3)
DEADLINE_SECONDS = 60


def embed(channel):
    """One call; a deadline that only a call that hangs would reach."""
    return embedding_pb2_grpc.EmbeddingServiceStub(channel).Embed(REQUEST, timeout=DEADLINE_SECONDS)


def flags(certificate, *more):
    return ["--tls-certificate", certificate.certificate_file, "--tls-key", certificate.key_file, *more]


def embdctl(server, *arguments, **environment):
    return subprocess.run(
        [binary("embdctl"), "--server", server.address, "--timeout", str(DEADLINE_SECONDS), *map(str, arguments), "models"],
        capture_output=True,
        text=True,
        timeout=2 * DEADLINE_SECONDS,
        check=False,
        env={**clean_environment(), **environment},
    )


def handshake(server, authority, *arguments):
    """openssl's own client; whether a handshake came about, and what it said."""
    done = subprocess.run(
        ["openssl", "s_client", "-connect", server.address, "-CAfile", authority.certificate_file, "-alpn", "h2"]
        + list(arguments),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    said = (done.stdout + done.stderr).decode(errors="replace")
    return "Cipher is (NONE)" not in said and "BEGIN CERTIFICATE" in said, said


class TlsCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.authority = Authority(cls.folder)
        cls.stranger = Authority(cls.folder, "stranger")
        cls.certificate = cls.authority.issue("server")
        cls.client_certificate = cls.authority.issue("client")

    def channel(self, server, root=None, client=None):
        credentials = grpc.ssl_channel_credentials(
            (root or self.authority).certificate, *((client.key, client.certificate) if client else ())
        )
        return self.enterContext(grpc.secure_channel(server.address, credentials, options=UNLIMITED))

    def assert_unavailable(self, channel, *parts):
        refusal = refusal_of(embed, channel)
        self.assertEqual(refusal.code, grpc.StatusCode.UNAVAILABLE, refusal.text)
        for part in parts:
            self.assertIn(part, refusal.text)

    def assert_embdctl_unreachable(self, done, *parts):
        self.assertEqual(done.returncode, 3, done.stderr)
        for part in ("UNAVAILABLE", *parts):
            self.assertIn(part, done.stderr)


class EncryptionTest(TlsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.socket = cls.folder / "embd.sock"
        cls.server = cls.enterClassContext(
            ServerProcess(*flags(cls.certificate), "--listen", f"unix:{cls.socket}")
        )

    def test_python_and_embdctl_are_served(self):
        self.assertEqual(len(embed(self.channel(self.server)).embeddings.shape), 3)
        done = embdctl(self.server, "--tls-ca", self.authority.certificate_file)
        self.assertIn("demo-learned", done.stdout, done.stderr)

    def test_settings_of_embdctl_may_be_variables(self):
        ca = str(self.authority.certificate_file)
        done = embdctl(self.server, EMBDCTL_TLS="true", EMBDCTL_TLS_CA=ca)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_unix_socket_is_not_encrypted(self):
        with grpc.insecure_channel(f"unix:{self.socket}") as channel:
            self.assertEqual(embed(channel), embed(self.channel(self.server)))

    def test_plain_client_is_unavailable(self):
        with grpc.insecure_channel(self.server.address) as channel:
            self.assert_unavailable(channel)
        self.assert_embdctl_unreachable(embdctl(self.server))

    def test_server_of_another_authority_is_not_trusted(self):
        self.assert_unavailable(self.channel(self.server, root=self.stranger), "certificate verify failed")
        done = embdctl(self.server, "--tls-ca", self.stranger.certificate_file)
        self.assert_embdctl_unreachable(done, "certificate verify failed")
        self.assert_embdctl_unreachable(embdctl(self.server, "--tls"), "certificate verify failed")

    def test_certificate_must_have_the_name_asked_for(self):
        ca = ["--tls-ca", self.authority.certificate_file]
        self.assert_embdctl_unreachable(embdctl(self.server, *ca, "--tls-server-name", "elsewhere.example"))
        self.assertEqual(embdctl(self.server, *ca, "--tls-server-name", "localhost").returncode, 0)

    def test_files_that_embdctl_cannot_use_are_named(self):
        for name, value in (("--tls-ca", "/none.pem"), ("--tls-ca", self.certificate.key_file), ("--token-file", "/none")):
            done = embdctl(self.server, "--tls", name, value)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(str(value), done.stderr)

    def test_tls_before_1_2_is_not_spoken(self):
        weak = ("-cipher", "DEFAULT:@SECLEVEL=0")  # else openssl's client does not even ask
        self.assertFalse(handshake(self.server, self.authority, "-tls1", *weak)[0])
        self.assertFalse(handshake(self.server, self.authority, "-tls1_1", *weak)[0])
        for version in ("-tls1_2", "-tls1_3"):
            went_well, said = handshake(self.server, self.authority, version)
            self.assertTrue(went_well, said)


class MinimumVersionTest(TlsCase):
    def test_1_3_refuses_1_2(self):
        config = (
            f"server: {{ tls: {{ certificate: {self.certificate.certificate_file}, "
            f'key: {self.certificate.key_file}, min_version: "1.3" }} }}\n'
        )
        with ServerProcess(config=config) as server:
            for version in ("-tls1_1", "-tls1_2"):
                self.assertFalse(handshake(server, self.authority, version, "-cipher", "ALL:@SECLEVEL=0")[0], version)
            went_well, said = handshake(server, self.authority, "-tls1_3")
            self.assertTrue(went_well, said)
            embed(self.channel(server))


class ExpiredServerTest(TlsCase):
    def test_client_does_not_trust_a_server_whose_certificate_has_expired(self):
        expired = self.authority.issue("expired", days=-1)
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(1))
        port = server.add_secure_port(
            "127.0.0.1:0", grpc.ssl_server_credentials([(expired.key, expired.certificate)])
        )
        server.start()
        self.addCleanup(lambda: server.stop(None).wait())
        server.address = f"127.0.0.1:{port}"

        done = embdctl(server, "--tls-ca", self.authority.certificate_file)

        self.assert_embdctl_unreachable(done, "certificate verify failed")


class ClientCertificateTest(TlsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(
            ServerProcess(*flags(cls.certificate, "--tls-client-ca", cls.authority.certificate_file))
        )

    def embdctl_as(self, certificate):
        return embdctl(self.server, "--tls-ca", self.authority.certificate_file, *flags(certificate))

    def test_certificate_of_the_authority_is_let_in(self):
        embed(self.channel(self.server, client=self.client_certificate))
        done = self.embdctl_as(self.client_certificate)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_certificate_is_unavailable(self):
        self.assert_unavailable(self.channel(self.server))
        self.assert_embdctl_unreachable(embdctl(self.server, "--tls-ca", self.authority.certificate_file))

    def test_certificate_of_another_authority_is_unavailable(self):
        other = self.stranger.issue("other")
        self.assert_unavailable(self.channel(self.server, client=other))
        self.assert_embdctl_unreachable(self.embdctl_as(other))

    def test_expired_certificate_is_unavailable(self):
        expired = self.authority.issue("late", days=-1)
        self.assert_unavailable(self.channel(self.server, client=expired))
        self.assert_embdctl_unreachable(self.embdctl_as(expired))

    def test_certificate_without_key_is_wrong_usage(self):
        done = embdctl(self.server, "--tls-certificate", self.client_certificate.certificate_file)
        self.assertEqual(done.returncode, 2, done.stderr)


class RenewalTest(TlsCase):
    def shown_serial(self, server):
        went_well, said = handshake(server, self.authority)
        self.assertTrue(went_well, said)
        path = self.folder / "shown.pem"
        path.write_text(said[said.index("-----BEGIN") : said.index("-----END")] + "-----END CERTIFICATE-----\n")
        done = subprocess.run(
            ["openssl", "x509", "-in", path, "-noout", "-serial"], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def test_renewed_certificate_is_shown_and_no_call_fails(self):
        in_use, renewed = self.authority.issue("renewing"), self.authority.issue("renewed")
        before, after = in_use.serial, renewed.serial
        ended = threading.Event()

        def call_until_ended(channel):
            calls = 0
            while not ended.is_set():
                if channel is not None:
                    embed(channel)
                else:  # a connection a call
                    credentials = grpc.ssl_channel_credentials(self.authority.certificate)
                    options = [("grpc.use_local_subchannel_pool", 1)]
                    with grpc.secure_channel(server.address, credentials, options=options) as own:
                        embed(own)
                calls += 1
            return calls

        with ServerProcess(*flags(in_use)) as server, concurrent.futures.ThreadPoolExecutor(4) as callers:
            self.assertEqual(self.shown_serial(server), before)
            kept = self.channel(server)
            calls = [callers.submit(call_until_ended, channel) for channel in (kept, kept, None, None)]
            try:
                in_use.replace_by(renewed)
                end = time.monotonic() + START_SECONDS
                while self.shown_serial(server) != after:
                    self.assertLess(time.monotonic(), end, server.log())
            finally:
                ended.set()
            for each in calls:
                self.assertGreater(each.result(), 0)

    def test_bad_renewal_is_told_and_the_old_certificate_stays(self):
        in_use, other = self.authority.issue("staying"), self.authority.issue("unfitting")
        before = in_use.serial
        with ServerProcess(*flags(in_use)) as server:
            in_use.certificate_file.write_bytes(other.certificate)
            server.await_log(f"{in_use.key_file}: is not the key of the certificate")
            self.assertEqual(self.shown_serial(server), before)
            in_use.certificate_file.write_bytes(b"half a file")
            server.await_log(f"{in_use.certificate_file}: has no certificate in PEM")
            self.assertEqual(self.shown_serial(server), before)
            embed(self.channel(server))


class RefusalToStartTest(TlsCase):
    def refusal(self, *arguments):
        done = subprocess.run(
            [binary("embd"), "--listen", "127.0.0.1:0", "--metrics-listen", "none", *map(str, arguments)],
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
            check=False,
        )
        self.assertGreater(done.returncode, 0, done.stderr)
        return done.stderr.splitlines()[-1]

    def assert_named(self, line, *parts):
        for part in parts:
            self.assertIn(str(part), line)

    def test_key_of_another_certificate(self):
        key = self.client_certificate.key_file
        line = self.refusal("--tls-certificate", self.certificate.certificate_file, "--tls-key", key)
        self.assert_named(line, "server.tls.key", key, "is not the key of the certificate")

    def test_expired_certificate(self):
        expired = self.authority.issue("old", days=-1)
        self.assert_named(
            self.refusal(*flags(expired)), "server.tls.certificate", expired.certificate_file, "has expired"
        )

    def test_certificate_whose_key_openssl_finds_too_short(self):
        folder = pathlib.Path(self.certificate.key_file).parent
        short = Certificate(folder / "short.pem", folder / "short.key")
        openssl(
            *("req", "-x509", "-newkey", "rsa:1024", "-nodes", "-keyout", short.key_file),
            *("-out", short.certificate_file, "-days", 30, "-subj", "/CN=localhost"),
        )
        self.assert_named(
            self.refusal(*flags(short)), "server.tls.certificate", short.certificate_file, "key too small"
        )

    def test_missing_file(self):
        line = self.refusal("--tls-certificate", "/none.pem", "--tls-key", self.certificate.key_file)
        self.assert_named(line, "server.tls.certificate", "/none.pem", "cannot be read")

    def test_encrypted_key(self):
        made = self.authority.issue("locked")
        subprocess.run(
            ["openssl", "ec", "-in", made.key_file, "-aes256", "-passout", "pass:secret", "-out", made.key_file],
            capture_output=True,
            check=True,
        )
        self.assert_named(self.refusal(*flags(made)), "server.tls.key", made.key_file, "encrypted")

    def test_authorities_that_are_no_certificates(self):
        key = self.certificate.key_file
        line = self.refusal(*flags(self.certificate, "--tls-client-ca", key))
        self.assert_named(line, "server.tls.client_ca", key, "no certificate")

    def test_certificate_that_expires_soon_is_warned_of(self):
        soon = self.authority.issue("soon", days=3)
        with ServerProcess(*flags(soon)) as server:
            server.await_log(f"certificate {soon.certificate_file} expires soon")

    def test_key_that_all_may_read_is_warned_of(self):
        open_key = self.authority.issue("open")
        open_key.key_file.chmod(0o644)
        with ServerProcess(*flags(open_key)) as server:
            server.await_log(f"{open_key.key_file} may be read by every user")


if __name__ == "__main__":
    unittest.main()
