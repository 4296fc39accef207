"""What a refusal consists of, and the rules that several kinds of requests share. See refusal.py."""

import dataclasses

import grpc

from random_batches.meaning import KINDS
from support.stubs import tensor_pb2

INVALID = grpc.StatusCode.INVALID_ARGUMENT
NOT_FOUND = grpc.StatusCode.NOT_FOUND
FAILED = grpc.StatusCode.FAILED_PRECONDITION
TOO_LARGE = grpc.StatusCode.RESOURCE_EXHAUSTED
LARGEST = 2**63 - 1
IDS, VECTORS = ("int32", "int64", "uint32"), ("float32", "float16", "bfloat16", "float64")
RESULTS = VECTORS[:3]
ELEMENT_SIZE = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8, "int32": 4, "int64": 8, "uint32": 4}



@dataclasses.dataclass(frozen=True)
class Fault:
    """One refusal. `rule` names what is broken, for all texts of it."""

    rule: str
    code: grpc.StatusCode
    reason: str
    text: str


@dataclasses.dataclass
class World:
    """What the server serves: models by name, the names of all, checksums, and limits."""

    models: dict
    names: list
    checksums: dict
    limits: object  # with the names of ServerLimits


class Faults(list):
    """Collects them."""

    def add(self, rule, reason, text, code=INVALID):
        self.append(Fault(rule, code, reason, text))

    def shape(self, rule, text):
        self.add(rule, "INVALID_SHAPE", text)

    def option(self, rule, text):
        self.add(rule, "INVALID_OPTION", text)


def quote(text):
    """A caller's string in a message: escaped, and cut after 128 bytes."""
    data = text.encode()
    cut = data[:128].decode(errors="ignore") if len(data) > 128 else text
    escaped = "".join({"\n": "\\n", "\0": "\\x00", '"': '\\"', "\\": "\\\\"}.get(letter, letter) for letter in cut)
    return f'"{escaped}…"' if len(data) > 128 else f'"{escaped}"'


def extents(shape):
    return f"({', '.join(map(str, shape))})"


def model_of(world, name, version, faults):
    """The model that is asked for, as far as there is one."""
    if name not in world.names:
        known = sorted(world.names, key=str.encode)
        more = f" and {len(known) - 10} more" if len(known) > 10 else ""
        text = f"there is no model {quote(name)}; there are {', '.join(map(quote, known[:10]))}{more}"
        faults.add("model", "MODEL_NOT_FOUND", text, NOT_FOUND)
        return None
    if version not in ("", "1"):
        text = f'model {quote(name)} has no version {quote(version)}; it has "1"'
        faults.add("version", "VERSION_NOT_FOUND", text, NOT_FOUND)
    return world.models.get(name)


def output_type(number, faults):
    """The rule of all fields of that name."""
    data_type("output_type", number, "output type", RESULTS, faults, unspecified=True)


def data_type(field, number, noun, allowed, faults, unspecified=False):
    """One of a few of the types; returns its name."""
    kind = KINDS.get(number)
    if kind in allowed or (unspecified and number == 0):
        return kind
    words = ", ".join(allowed).upper()
    if number in tensor_pb2.DataType.values():
        name = tensor_pb2.DataType.Name(number).removeprefix("DATA_TYPE_").lower()
        faults.option(field, f"{field} {name} is no {noun}; allowed are {words}")
    else:
        unknown_enum(field, number, words, faults)
    return None


def unknown_enum(field, number, allowed, faults):
    text = f"{field} = {number} is no value of its enum; allowed are {allowed}"
    faults.add(field, "UNKNOWN_ENUM_VALUE", text)


def ids_tensor(tensor, row_lengths, shapes, faults):
    """Whether raw ids have a type, a rank and as many bytes as their shape says."""
    kind = data_type("ids_tensor.data_type", tensor.data_type, "type of ids", IDS, faults)
    ragged = len(row_lengths) > 0
    if len(tensor.shape) != (1 if ragged else 2) or min(tensor.shape) < 0:
        faults.shape("ids_tensor", f"ids_tensor.shape must be {shapes[ragged]}, got {extents(tensor.shape)}")
        return False
    if kind is None:
        return False
    needed = ELEMENT_SIZE[kind]
    for extent in tensor.shape:
        needed *= extent
    if needed != len(tensor.data):
        count = needed if needed <= LARGEST else "more than 2^63 - 1"
        text = f"ids_tensor.data has {len(tensor.data)} bytes, but {extents(tensor.shape)} {kind} needs {count}"
        faults.shape("ids_tensor", text)
        return False
    return True
