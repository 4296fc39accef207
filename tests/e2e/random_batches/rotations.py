"""Random calls of Rotate and RotaryTable, and what they must answer by the formulas of rotary.proto."""

import dataclasses
import math

import numpy as np

from random_batches import elements
from random_batches.rotary_formulas import Rotation
from support.stubs import rotary_pb2 as pb

LAST_POSITION = 2**24 - 1
TOKEN = {"seeded": {"vocab_size": 2, "embedding_dim": 4}}  # of the models, whose tokens nobody asks for


def draw_rotation(random, kind):
    """Random parameters that are possible, with scaling of that kind."""
    head_dim = 2 * random.randint(2, 40)
    rotary_dim = random.choice((0, 0, head_dim, 2 * random.randint(2, head_dim // 2)))
    if rotary_dim not in (0, head_dim) and kind != "proportional" and random.random() < 0.3:
        head_dim += 1  # an odd component at the end passes through
    theta = random.choice((10000.0, 500000.0, 1e6, random.uniform(1.5, 50)))
    rotation = Rotation(head_dim, rotary_dim, theta, kind, {}, random.random() < 0.5)
    rotation.scaling = _scaling(random, rotation)
    return rotation


def _scaling(random, rotation):
    kind = rotation.kind
    if kind in ("", "default") and random.random() < 0.5:
        return {}
    scaling = {"factor": random.choice((1.0, 4.0, 8.0, random.uniform(0.3, 40)))}
    original, longest = random.choice((16, 64, 4096)), random.choice((32, 64, 8192))
    if kind == "proportional" and random.random() < 0.5:
        del scaling["factor"]
    if kind == "dynamic":
        scaling["max_position_embeddings"] = longest
    if kind in ("yarn", "longrope", "su"):
        lengths = {"original_max_position_embeddings": original, "max_position_embeddings": longest}
        given = random.choice((lengths, lengths, *({key: lengths[key]} for key in lengths)))
        scaling |= given
        if len(given) == 2 and random.random() < 0.5:
            del scaling["factor"]
        if random.random() < 0.3:
            scaling["attention_factor"] = random.uniform(0.5, 2)
    if kind == "yarn":
        optional = {"beta_fast": 24.0, "beta_slow": 2.0, "mscale": 0.7, "mscale_all_dim": 1.2, "truncate": False}
        scaling |= {key: value for key, value in optional.items() if random.random() < 0.4}
    if kind in ("longrope", "su"):
        pairs = rotation.paired // 2
        scaling["short_factor"] = [random.uniform(0.5, 2) for _ in range(pairs)]
        scaling["long_factor"] = [random.uniform(1, 40) for _ in range(pairs)]
    if kind == "llama3":
        scaling |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": original}
    return scaling


def parameters(rotation):
    """The rotation as a message."""
    message = pb.RotaryParameters(head_dim=rotation.head_dim, theta=rotation.theta)
    if rotation.rotary_dim:
        message.rotary_dim = rotation.rotary_dim
    if rotation.interleaved:
        message.pairing = pb.ROTARY_PAIRING_INTERLEAVED
    if rotation.kind or rotation.scaling:
        message.scaling.CopyFrom(pb.RotaryScaling(type=rotation.kind, **rotation.scaling))
    return message


def entry(rotation):
    """The rotation as `position.rotary` of a configuration."""
    rotary = {"head_dim": rotation.head_dim, "theta": rotation.theta}
    if rotation.rotary_dim:
        rotary["rotary_dim"] = rotation.rotary_dim
    if rotation.interleaved:
        rotary["pairing"] = "interleaved"
    if rotation.kind:
        rotary["scaling"] = {"type": rotation.kind, **rotation.scaling}
    return rotary


def table(rotation, positions, length, inverse=False):
    """Float32 cosines and sines (positions, pairs), and the attention factor."""
    frequencies, factor = rotation.frequencies(length)
    factor_used = 1 / factor if inverse else factor
    angles = [[position * frequency for frequency in frequencies] for position in positions]
    cos = [[math.cos(angle) * factor_used for angle in row] for row in angles]
    sin = [[math.sin(angle) * (-factor_used if inverse else factor_used) for angle in row] for row in angles]
    return np.array(cos).astype(np.float32), np.array(sin).astype(np.float32), factor


@dataclasses.dataclass
class Turn:
    """One call of Rotate: what is turned how."""

    rotation: Rotation
    given: np.ndarray  # in its own type
    given_type: str
    output: str
    axis: int  # of the sequence, counted from 0
    positions: list = None  # one list a row
    scaling_length: int = None
    inverse: bool = False
    split: bool = False


def draw_turn(random, rotation):
    """A valid RotateRequest without model and parameters, and the Turn that it means."""
    rank = random.choice((2, 3, 3, 4, 4, 5))
    shape = [random.choice((1, 2, 3, 5)) for _ in range(rank - 1)] + [rotation.head_dim]
    request = pb.RotateRequest()
    axis = 0 if rank == 2 else 1
    if random.random() < 0.6:
        axis = random.randrange(rank - 1)
        request.sequence_axis = axis - random.choice((0, rank))
    shape[axis] = random.randint(1, 12)
    if random.random() < 0.05:
        shape[random.choice([i for i in range(rank - 1) if i != axis] or [0])] = 0 if rank > 2 else 1
    output = random.choice(("float32", "float16", "bfloat16"))
    turn = Turn(rotation, *_vectors(random, shape), output, axis)
    request.vectors.CopyFrom(elements.to_wire(turn.given, turn.given_type))
    request.output_type = elements.WIRE[turn.output]
    _positions(random, request, turn, 1 if axis == 0 else shape[0], shape[axis])
    if random.random() < 0.4:
        turn.scaling_length = request.scaling_length = random.choice((1, 40, 5000, 2**24))
    if random.random() < 0.3:
        turn.inverse = request.inverse = True
    elif rotation.interleaved and random.random() < 0.4:
        turn.split = True
        request.output_layout = pb.ROTARY_OUTPUT_SPLIT
    return request, turn


def _vectors(random, shape):
    kind = random.choice(elements.STORED)
    values = np.random.default_rng(random.getrandbits(64)).standard_normal(shape) * 10.0 ** random.randint(-4, 4)
    return elements.raw(values, kind), kind


def _positions(random, request, turn, rows, tokens):
    most = random.choice((50, 9000, LAST_POSITION + 1 - tokens))
    drawn = random.random()
    if drawn < 0.3:
        turn.positions = [list(range(tokens))] * rows
    elif drawn < 0.65:
        offsets = [random.randint(0, most) for _ in range(random.choice((1, rows)) or 1)]
        request.position_offsets.extend(offsets)
        offsets = offsets if len(offsets) == rows else offsets * rows
        turn.positions = [list(range(offset, offset + tokens)) for offset in offsets]
    elif random.random() < 0.5 or rows == 0:
        ids = [random.randint(0, most) for _ in range(tokens)]
        request.position_ids.extend(ids)
        turn.positions = [ids] * rows
    else:
        turn.positions = [[random.randint(0, most) for _ in range(tokens)] for _ in range(rows)]
        request.position_ids.extend(sum(turn.positions, []))


def turned(turn):
    """The elements that Rotate must answer."""
    vectors = elements.widen(turn.given, turn.given_type)
    rows = vectors[None] if turn.axis == 0 else vectors
    axis = turn.axis or 1
    out = np.empty(rows.shape, np.float32)
    for b, positions in enumerate(turn.positions):
        length = turn.scaling_length or max(positions) + 1
        cos, sin, _ = table(turn.rotation, positions, length, turn.inverse)
        # Tokens first, so that the table lines up; then back.
        moved = np.moveaxis(rows[b], axis - 1, 0)
        flat = moved.reshape(len(positions), -1, turn.rotation.head_dim)
        done = _turn_pairs(turn, flat, cos[:, None], sin[:, None]).reshape(moved.shape)
        out[b] = np.moveaxis(done, 0, axis - 1)
    return elements.raw(out.reshape(vectors.shape), turn.output)


def _turn_pairs(turn, vectors, cos, sin):
    paired, half = turn.rotation.paired, turn.rotation.paired // 2
    interleaved = turn.rotation.interleaved
    first = slice(0, paired, 2) if interleaved else slice(0, half)
    second = slice(1, paired, 2) if interleaved else slice(half, paired)
    a, b = vectors[..., first], vectors[..., second]
    out = vectors.copy()
    if turn.split:
        first, second = slice(0, half), slice(half, paired)
    with np.errstate(all="ignore"):
        out[..., first] = a * cos - b * sin
        out[..., second] = b * cos + a * sin
    return out
