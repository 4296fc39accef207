"""Random batches that a model must answer, as requests and as what expected.py computes from."""

import numpy as np

from random_batches import elements
from random_batches.expected import Batch
from random_batches.models import LONGEST
from support.stubs import embedding_pb2 as pb

ANY_POSITION = 2**62  # what positions stay below where no table is looked at
_PARTS = {
    "composed": (pb.PART_UNSPECIFIED, pb.PART_COMPOSED),
    "token": (pb.PART_TOKEN,),
    "position": (pb.PART_POSITION,),
}


def draw(random, model):
    """A valid request for the model: the message, and the Batch that it means."""
    request, batch = pb.EmbedRequest(model=model.name), Batch()
    parts = ["composed", "composed", "token"] + ["position"] * (model.rows > 0)
    batch.part = random.choice(parts)
    request.part = random.choice(_PARTS[batch.part])
    batch.output = random.choice(("float32", "float32", "float16", "bfloat16"))
    if batch.output != "float32" or random.random() < 0.5:
        request.output_type = elements.WIRE[batch.output]
    _shape(random, request, batch)
    _cells(random, model, request, batch)
    _positions(random, model, request, batch)
    return request, batch


def _shape(random, request, batch):
    rows = random.choice((0, 1, 1, 2, 3, 5))
    batch.ragged = rows > 0 and random.random() < 0.4
    if not batch.ragged:
        longest = max(1, _length(random))
        batch.lengths = [longest] * rows
        batch.padded_to = request.sequence_length = longest
        request.batch_size = rows
        return
    batch.lengths = [_length(random) for _ in range(rows)]
    request.row_lengths.extend(batch.lengths)
    if random.random() < 0.3:
        request.batch_size = rows
    if random.random() < 0.4:
        request.ragged_layout = pb.RAGGED_LAYOUT_PACKED
        batch.packed = True
    elif random.random() < 0.5:
        request.padding_side = pb.PADDING_SIDE_LEFT
        batch.left = True
    if random.random() < 0.4:
        request.sequence_length = max([1] + batch.lengths) + random.randint(0, 3)
        batch.padded_to = request.sequence_length


def _length(random):
    return random.randint(0, random.choice((0, 3, 20, 20, LONGEST)))


def _cells(random, model, request, batch):
    cells = sum(batch.lengths)
    if batch.part == "position" and random.random() < 0.4:
        pass
    elif random.random() < 0.25:
        _given(random, model, request, batch)
    else:
        _ids(random, model, request, batch)
    if model.has_types and cells and random.random() < 0.6:
        batch.types = [random.randrange(len(model.types)) for _ in range(cells)]
        request.token_type_ids.extend(batch.types)
    if cells and random.random() < 0.4:
        batch.mask = [int(random.random() < 0.7) for _ in range(cells)]
        request.attention_mask.extend(batch.mask)


def _given(random, model, request, batch):
    batch.given_type = random.choice(elements.STORED)
    draws = np.random.default_rng(random.getrandbits(64))
    values = draws.standard_normal((sum(batch.lengths), model.dim)) * 10.0 ** random.randint(-30, 6)
    for special in (np.inf, -np.inf, np.nan, -0.0, 1e-42):
        if values.size and random.random() < 0.15:
            values.reshape(-1)[random.randrange(values.size)] = special
    batch.given = elements.raw(values, batch.given_type)
    shape = batch.given.shape if batch.ragged else (len(batch.lengths), request.sequence_length, model.dim)
    request.inputs_embeds.CopyFrom(elements.to_wire(batch.given.reshape(shape), batch.given_type))
    _maybe_leave_out_shape(random, request, batch)


def _ids(random, model, request, batch):
    cells = sum(batch.lengths)
    often = [i for i in (model.padding_idx, model.dropout_mask_id) if i is not None]
    batch.ids = [
        random.choice(often) if often and random.random() < 0.25 else random.randrange(model.vocab_size)
        for _ in range(cells)
    ]
    kind = random.choice((None, None, "int32", "int64", "uint32"))
    if model.out_of_range != "error" and cells and random.random() < 0.5:
        wild = [model.vocab_size, 2**31 - 1]
        wild += [-1, -(2**31)] * (kind != "uint32") + [2**63 - 1, -(2**63)] * (kind in (None, "int64"))
        batch.ids[random.randrange(cells)] = random.choice(wild)
    if kind is None:
        request.ids.extend(batch.ids)
        return
    ids = elements.raw(np.array(batch.ids, np.int64), kind)
    shape = (cells,) if batch.ragged else (len(batch.lengths), request.sequence_length)
    request.ids_tensor.CopyFrom(elements.to_wire(ids.reshape(shape), kind))
    _maybe_leave_out_shape(random, request, batch)


def _maybe_leave_out_shape(random, request, batch):
    if not batch.ragged and random.random() < 0.5:
        request.ClearField(random.choice(("batch_size", "sequence_length")))


def _positions(random, model, request, batch):
    used = batch.part != "token" and model.rows > 0
    batch.offsets = [0] * len(batch.lengths)
    drawn = random.random()
    if drawn < 0.3:
        _position_ids(random, model, request, batch, used)
    elif drawn < 0.7:
        room = [model.room - length if used else ANY_POSITION - 1 for length in batch.lengths]
        if batch.lengths and random.random() < 0.5:
            offsets = [random.randint(0, most) for most in room]
            batch.offsets = offsets
        else:
            offsets = [random.randint(0, min(room, default=0))]
            batch.offsets = offsets * len(batch.lengths)
        request.position_offsets.extend(offsets)


def _position_ids(random, model, request, batch, used):
    most = model.rows - model.row_offset if used else ANY_POSITION
    cells = sum(batch.lengths)
    if batch.ragged or random.random() < 0.5:
        ids = [random.randrange(most) for _ in range(cells)]
        batch.position_ids = ids or None
    else:
        longest = batch.padded_to
        ids = [random.randrange(most) for _ in range(longest)]
        batch.position_ids = ids * len(batch.lengths)
    request.position_ids.extend(ids)
