"""What a valid EmbedRequest asks for, read out of the message alone."""

import numpy as np

from random_batches import elements
from random_batches.expected import Batch
from support.stubs import embedding_pb2 as pb

KINDS = {number: kind for kind, number in elements.WIRE.items()}
_PARTS = {pb.PART_TOKEN: "token", pb.PART_POSITION: "position"}


def tensor_of(tensor):
    """The elements of a Tensor that is as long as its shape says, one after the other."""
    return np.frombuffer(tensor.data, elements.RAW[KINDS[tensor.data_type]])


def ids_of(request):
    """The ids of a request by either of their fields."""
    return tensor_of(request.ids_tensor).tolist() if request.HasField("ids_tensor") else list(request.ids)


def batch_of(request):
    """The Batch that a valid request means; of a `unique` one, its distinct ids as one packed row."""
    ids = ids_of(request)
    batch = Batch(part=_PARTS.get(request.part, "composed"), output=KINDS[request.output_type or 1], ids=ids or None)
    batch.ragged = len(request.row_lengths) > 0
    batch.packed = request.ragged_layout == pb.RAGGED_LAYOUT_PACKED
    batch.left = request.padding_side == pb.PADDING_SIDE_LEFT
    extents = [request.batch_size, request.sequence_length]
    given = request.inputs_embeds if request.HasField("inputs_embeds") else None
    for tensor in (given, request.ids_tensor if request.HasField("ids_tensor") else None):
        if tensor is not None and not batch.ragged:
            extents = tensor.shape[:2]
    batch.padded_to = extents[1]
    batch.lengths = list(request.row_lengths) if batch.ragged else [extents[1]] * extents[0]
    if given is not None:
        batch.given_type = KINDS[given.data_type]
        batch.given = tensor_of(given).reshape(-1, given.shape[-1])
    elif not ids and batch.part != "position":
        batch.ids = []
    _add_cells(request, batch)
    if request.unique:
        batch.ids = list(dict.fromkeys(batch.ids))
        batch.lengths, batch.ragged, batch.packed = [len(batch.ids)], True, True
    return batch


def _add_cells(request, batch):
    rows = len(batch.lengths)
    offsets = list(request.position_offsets) or [0]
    batch.offsets = offsets if len(offsets) == rows else offsets * rows
    positions = list(request.position_ids)
    if positions:
        batch.position_ids = positions if len(positions) == sum(batch.lengths) else positions * rows
    batch.types = list(request.token_type_ids) or None
    batch.mask = list(request.attention_mask) or None
