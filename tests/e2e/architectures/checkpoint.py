"""A model folder as Hugging Face publishes it, a few KB small: tables from a seed, config.json, safetensors."""

import dataclasses
import json
import math
import pathlib
import struct
import zlib

import numpy as np

from architectures.rotary_oracle import Rotation
from support.arrays import round_to_bfloat16

_STORED = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "U16": "<u2", "U8": "u1", "F8_E4M3": "u1", "BOOL": "u1"
}
_WORD = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}


@dataclasses.dataclass
class Tensor:
    """A stored tensor; of BF16 the elements are float32 values that bfloat16 has."""

    dtype: str
    array: np.ndarray

    def encoded(self):
        if self.dtype == "BF16":
            return (np.ascontiguousarray(self.array, "<f4").view("<u4") >> 16).astype("<u2").tobytes()
        return np.ascontiguousarray(self.array, _STORED[self.dtype]).tobytes()

    @property
    def values(self):
        """The elements as float32, as every stage computes with them."""
        return self.array.astype(np.float32)


class Tables:
    """Random tensors of one folder, in one type; the folder's name is the seed."""

    def __init__(self, name, dtype="F32"):
        self._random = np.random.default_rng(zlib.crc32(name.encode()))
        self.dtype = dtype

    def normal(self, *shape, mean=0.0, std=0.5):
        values = (mean + std * self._random.standard_normal(shape)).astype(np.float32)
        if self.dtype == "BF16":
            return Tensor("BF16", round_to_bfloat16(values))
        return Tensor(self.dtype, values.astype(_STORED[self.dtype]))

    def rounded(self, value):
        """A factor as the folder's type has it, in float32."""
        value = np.array([value], np.float32)
        return float(round_to_bfloat16(value)[0] if self.dtype == "BF16" else value.astype(_STORED[self.dtype])[0])

    @property
    def torch_dtype(self):
        return _WORD[self.dtype]


def write_safetensors(path, tensors):
    """Header of names, types, shapes and offsets; then the elements, one tensor after the other."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in sorted(tensors.items()):
        encoded = tensor.encoded()
        header[name] = {
            "dtype": tensor.dtype,
            "shape": list(tensor.array.shape),
            "data_offsets": [len(data), len(data) + len(encoded)],
        }
        data += encoded
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


@dataclasses.dataclass
class Checkpoint:
    """A folder, the name of the family that it belongs to, and what its input stage is.

    `may_be_refused` names a config key for which a server may refuse the folder rather than serve it right.
    `shards` names which file of a sharded folder each tensor is in; files without a tensor are named in the index but
    are not there. `under` is where config and weights stand in the folder.
    """

    name: str
    family: str
    config: dict
    tensors: dict
    stage: object
    context: int = None
    side: str = None
    rotation: Rotation = None
    layer_rotations: dict = dataclasses.field(default_factory=dict)
    types: int = None
    shards: dict = None
    under: str = ""
    may_be_refused: str = None
    other_files: dict = dataclasses.field(default_factory=dict)

    @property
    def vocab_size(self):
        return self.stage.token.shape[0]

    @property
    def dim(self):
        return self.stage.token.shape[1]

    def write(self, parent):
        """Writes the folder; returns its path."""
        folder = pathlib.Path(parent) / self.name
        inner = folder / self.under
        inner.mkdir(parents=True)
        (inner / "config.json").write_text(json.dumps(self.config, indent=2) + "\n", encoding="utf-8")
        for name, text in self.other_files.items():
            (folder / name).write_text(text, encoding="utf-8")
        if self.shards is None:
            write_safetensors(inner / "model.safetensors", self.tensors)
        else:
            self._write_shards(inner)
        return folder

    def _write_shards(self, folder):
        for shard in set(self.shards.values()):
            tensors = {name: tensor for name, tensor in self.tensors.items() if self.shards.get(name) == shard}
            if tensors:
                write_safetensors(folder / shard, tensors)
        index = {"metadata": {"total_size": 123456789}, "weight_map": self.shards}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")


def root(dim):
    """sqrt(D) as families write it."""
    return math.sqrt(dim)
