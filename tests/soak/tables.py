"""The table files that the soak serves, the configuration that names them, and their versions."""

import pathlib

import numpy as np

from architectures.checkpoint import Tensor, write_safetensors

# What the server may use where it runs in a control group. It takes up to 65 MiB: tables of 10 MiB, regions of up to
# 34 MiB, some of them of clients that were killed, and the rest.
MEMORY_LIMIT_MIB = 112
VERSIONS = ("a", "b")

_CONFIG = """
server:
  limits:
    max_request_bytes: 4MiB
    max_bytes_in_flight: 48MiB
    max_request_bytes_in_flight: 16MiB
    max_stall: 3s
  shared_memory: { prefix: /dev/shm/embd-soak-, max_bytes: 48MiB }
  model_control: explicit
  log: { level: info, format: json, access_sample: 0.02 }
models:
  - name: seeded
    token: { seeded: { vocab_size: 320, embedding_dim: 64, seed: 11 } }
    position: { learned: { seeded: { max_context_length: 128 } } }
  - name: computed
    token: { seeded: { vocab_size: 320, embedding_dim: 64, seed: 12 } }
    position: { sinusoidal: { max_context_length: 128 } }
  - name: rotary
    token: { seeded: { vocab_size: 320, embedding_dim: 64, seed: 13 } }
    position: { rotary: {} }
  - name: wide
    token: { seeded: { vocab_size: 320, embedding_dim: 256, seed: 14 } }
    position: { learned: { seeded: { max_context_length: 256 } } }
  - name: comes-and-goes
    token: { seeded: { vocab_size: 320, embedding_dim: 64, seed: 15 } }
  - { name: words, token: { file: words.npy } }
  - { name: half, token: { file: half.safetensors, mmap: true } }
  - { name: mapped, token: { file: mapped.npy, mmap: true } }
  - { name: flip, token: { file: flip.npy } }
  - { name: flip-mapped, token: { file: flip-mapped.safetensors, mmap: true } }
"""
# Twice what the control group allows; one that would fit alone, but not beside the others; one that would fit beside
# them, and leave the program no room.
_TOO_LARGE = f"""
  - name: far-too-large
    required: false
    token: {{ seeded: {{ vocab_size: {MEMORY_LIMIT_MIB * 2048}, embedding_dim: 256 }} }}
  - name: too-large
    required: false
    token: {{ seeded: {{ vocab_size: {(MEMORY_LIMIT_MIB - 1) * 1024}, embedding_dim: 256 }} }}
  - name: leaves-no-room
    required: false
    token: {{ seeded: {{ vocab_size: {(MEMORY_LIMIT_MIB - 16) * 1024}, embedding_dim: 256 }} }}
"""
TOO_LARGE = ("far-too-large", "too-large", "leaves-no-room")


def _rows(seed, rows, dim):
    return np.random.default_rng(seed).standard_normal((rows, dim)).astype(np.float32)


class Tables:
    """A folder with all files and `embd.yaml`. `version` is what the two models that flip are made of."""

    def __init__(self, folder, version=VERSIONS[0], limited=False):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.config = self.folder / "embd.yaml"
        self.mapped = self.folder / "mapped.npy"
        self.config.write_text(_CONFIG + (_TOO_LARGE if limited else ""), encoding="utf-8")
        self._replace("words.npy", lambda path: np.save(path, _rows(1, 5000, 64)))
        half = Tensor("F16", _rows(2, 3000, 96))
        self._replace("half.safetensors", lambda path: write_safetensors(path, {"rows": half}))
        self.restore_mapped()
        self.write_version(version)

    def restore_mapped(self):
        """Puts the whole file into the place of what stands there."""
        self._replace(self.mapped.name, lambda path: np.save(path, _rows(3, 8000, 128)))

    def write_version(self, version):
        """Puts other files into the places of those of the models that flip."""
        seed = 100 + VERSIONS.index(version)
        rows = _rows(seed, 2000, 128)
        self.version = version
        self._replace("flip.npy", lambda path: np.save(path, rows))
        self._replace("flip-mapped.safetensors", lambda path: write_safetensors(path, {"rows": Tensor("F32", rows)}))

    def write_other_version(self):
        self.write_version(VERSIONS[1 - VERSIONS.index(self.version)])

    def _replace(self, name, write):
        beside = self.folder / f"next.{name}"
        write(beside)
        beside.rename(self.folder / name)
