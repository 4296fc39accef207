"""Certificates made by the openssl program, in a folder of the test's own."""

import pathlib
import subprocess

NAMES = "DNS:localhost,IP:127.0.0.1"
_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


def openssl(*arguments):
    """Runs openssl, which must succeed; its standard output."""
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]} failed:\n{done.stderr}")
    return done.stdout


class Certificate:
    """A certificate and its key, both as files and as bytes."""

    def __init__(self, certificate, key):
        self.certificate_file, self.key_file = pathlib.Path(certificate), pathlib.Path(key)

    @property
    def certificate(self):
        return self.certificate_file.read_bytes()

    @property
    def key(self):
        return self.key_file.read_bytes()

    @property
    def serial(self):
        return openssl("x509", "-in", self.certificate_file, "-noout", "-serial").strip()

    def replace_by(self, other):
        """Puts the files of another certificate in place of these, as programs that renew them do."""
        for mine, new in ((self.certificate_file, other.certificate_file), (self.key_file, other.key_file)):
            beside = mine.with_suffix(".new")
            beside.write_bytes(new.read_bytes())
            beside.rename(mine)


class Authority(Certificate):
    """Issues certificates."""

    def __init__(self, folder, name="authority"):
        self._folder = pathlib.Path(folder)
        super().__init__(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        files = ["-keyout", self.key_file, "-out", self.certificate_file]
        openssl("req", "-x509", *_KEY, *files, "-days", 30, "-subj", f"/CN={name}")

    def issue(self, name, days=30, names=NAMES):
        """A certificate, valid for so many days; below 0 it has expired."""
        made = Certificate(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        request, extensions = self._folder / f"{name}.csr", self._folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={names}\n", encoding="utf-8")
        openssl("req", *_KEY, "-keyout", made.key_file, "-out", request, "-subj", f"/CN={name}")
        signed_by = ["-CA", self.certificate_file, "-CAkey", self.key_file, "-CAcreateserial"]
        openssl(
            "x509", "-req", "-in", request, *signed_by, "-days", days, "-extfile", extensions,
            "-out", made.certificate_file,
        )  # fmt: skip
        made.key_file.chmod(0o600)
        return made
