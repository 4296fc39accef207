"""Valid calls of Rotate and RotaryTable with one to three things broken in them."""

import math

from support.stubs import rotary_pb2 as pb
from support.stubs import tensor_pb2

_WILD = (-1, 0, 1, 3, 41, 251, 2**24, 2**31, 2**62, 2**63 - 1, -(2**63))
_NO_FACTORS = (0.0, -1.0, math.inf, math.nan)
_TYPES = ("", "default", "linear", "ntk", "dynamic", "yarn", "longrope", "su", "llama3", "proportional", "alibi")
_COUNTS = ("original_max_position_embeddings", "max_position_embeddings")
_NUMBERS = (
    *("factor", "low_freq_factor", "high_freq_factor", "beta_fast", "beta_slow"),
    *("attention_factor", "mscale", "mscale_all_dim"),
)


def spoil(random, request, names):
    """Breaks the request in place; what comes out may still be valid by chance."""
    spoilers = _BOTH + (_OF_TURNS if isinstance(request, pb.RotateRequest) else _OF_TABLES)
    for _ in range(random.choice((1, 1, 2, 3))):
        random.choice(spoilers)(random, request, names)


def _name(random, request, names):
    field, value = random.choice(
        (
            *(("model", "nobody"), ("model", ""), ("model", random.choice(names))),
            *(("model_version", "2"), ("layer_type", "x\n")),
        )
    )
    setattr(request, field, value)


def _parameters(random, request, names):
    if random.random() < 0.2:
        request.ClearField("parameters")
        return
    field, values = random.choice(
        (
            ("head_dim", (0, 1, -2, 7, 2**20 + 2, 2**62)),
            ("rotary_dim", (0, 2, 3, -2, 1000, 2**62)),
            ("theta", (*_NO_FACTORS, 1.0)),
            ("pairing", (1, 2, 3, -1)),
        )
    )
    setattr(request.parameters, field, random.choice(values))


def _scaling(random, request, names):
    scaling = request.parameters.scaling
    drawn = random.randrange(5)
    if drawn == 0:
        scaling.type = random.choice(_TYPES)
    elif drawn == 1:
        scaling.ClearField(random.choice([field.name for field in scaling.DESCRIPTOR.fields]))
    elif drawn == 2:
        setattr(scaling, random.choice(_COUNTS), random.choice((0, -1, -(2**63))))
    elif drawn == 3:
        given = [field for field in _NUMBERS if scaling.HasField(field)]
        setattr(scaling, random.choice(given or _NUMBERS), random.choice(_NO_FACTORS))
    else:
        divisors = random.choice((scaling.short_factor, scaling.long_factor))
        divisors.append(1.0)
        divisors[random.randrange(len(divisors))] = random.choice((1.0, *_NO_FACTORS))


def _scaling_length(random, request, names):
    request.scaling_length = random.choice((0, -1, 2**24 + 1, 2**63 - 1))


def _shape(random, request, names):
    shape = request.vectors.shape
    drawn = random.randrange(3)
    if drawn == 0 and shape:
        shape[random.randrange(len(shape))] = random.choice(_WILD)
    elif drawn == 1 and shape:
        del shape[random.randrange(len(shape))]
    else:
        shape.insert(random.randint(0, len(shape)), random.choice((0, 1, 1, 2)))


def _too_many(random, request, names):
    """More rows or tokens than a request may have."""
    head = request.vectors.shape[-1] if request.vectors.shape else 4
    if 0 <= head <= 100:
        shape = random.choice(((41, 1, head), (1, 251, head)))
        zeros = bytes(4 * shape[0] * shape[1] * head)
        request.vectors.CopyFrom(tensor_pb2.Tensor(data_type=1, shape=shape, data=zeros))


def _vectors(random, request, names):
    drawn = random.randrange(3)
    if drawn == 0:
        request.ClearField("vectors")
    elif drawn == 1:
        request.vectors.data_type = random.choice((0, 5, 7, 9, -1))
    else:
        request.vectors.data = request.vectors.data[: random.randint(0, len(request.vectors.data))]


def _positions(random, request, names):
    values = random.choice((request.position_offsets, request.position_ids))
    if values and random.random() < 0.6:
        values[random.randrange(len(values))] = random.choice(_WILD)
    else:
        values.extend([1] * random.choice((1, 1, 2, 7)))


def _enums(random, request, names):
    field, values = random.choice(
        (
            ("output_layout", (0, 1, 2, 2, 3, -1)),
            ("output_type", (4, 6, 9, -1)),
            ("sequence_axis", (-9, -1, 0, 1, 2, 5)),
        )
    )
    setattr(request, field, random.choice(values))


def _inverse(random, request, names):
    request.inverse = not request.inverse


def _extent(random, request, names):
    setattr(request, random.choice(("first_position", "length")), random.choice(_WILD))


_BOTH = (_name, _parameters, _scaling, _scaling, _scaling, _scaling_length)
_OF_TURNS = (*(_shape, _vectors, _positions, _enums) * 2, _inverse, _too_many)
_OF_TABLES = (_extent,)
