"""What a model must answer to a batch, computed with numpy from the comments of the protos alone."""

import dataclasses

import numpy as np

from random_batches import elements

KEPT_AT_TRAINING = np.float32(0.88)


@dataclasses.dataclass
class Batch:
    """One request, cell by cell: row after row, without padding."""

    part: str = "composed"
    output: str = "float32"
    lengths: list = None  # of the rows
    ragged: bool = False
    packed: bool = False
    left: bool = False
    padded_to: int = 0
    ids: list = None
    given: np.ndarray = None  # inputs_embeds in their own type
    given_type: str = None
    offsets: list = None  # one a row
    position_ids: list = None  # one a cell
    types: list = None
    mask: list = None


def position_rows(model, batch):
    """Rows of the position table, one a cell."""
    if batch.position_ids is not None:
        return [p + model.row_offset for p in batch.position_ids]
    rows, cell = [], 0
    by_ids = model.numbering == "padding" and batch.ids is not None
    by_mask = model.numbering in ("sequential", "mask") and batch.mask is not None
    for b, length in enumerate(batch.lengths):
        counted = 0
        for t in range(length):
            counts = not (by_ids and batch.ids[cell] == model.padding_idx) and not (by_mask and not batch.mask[cell])
            if model.numbering == "padding":
                position = model.padding_idx + (batch.offsets[b] + counted + 1 if counts else 0)
            elif counts:
                position = batch.offsets[b] + counted
            else:
                position = 1 if model.numbering == "sequential" else -1
            counted += counts
            rows.append(position + model.row_offset)
            cell += 1
    return rows


def token_rows(model, batch, composed):
    """Float32 token rows as they enter the sum."""
    if batch.given is not None:
        return elements.widen(batch.given, batch.given_type)
    rows = np.zeros((len(batch.ids), model.dim), np.float32)
    ids = list(batch.ids)
    for cell, given in enumerate(ids):
        if not 0 <= given < model.vocab_size:
            ids[cell] = -1 if model.out_of_range == "zero" else model.out_of_range
        if ids[cell] >= 0 and not (composed and ids[cell] == model.dropout_mask_id):
            rows[cell] = model.token[ids[cell]]
    if model.dropout_mask_id is None or not composed:
        return rows * model.scale
    return rows * KEPT_AT_TRAINING / _divisors(model, batch, ids)


def _divisors(model, batch, ids):
    divisors, start = [], 0
    for length in batch.lengths:
        cells = slice(start, start + length)
        masks = np.float32(ids[cells].count(model.dropout_mask_id))
        among = np.float32(length if batch.mask is None else sum(batch.mask[cells]))
        if length:
            divisors += [np.float32(1) - masks / among] * length
        start += length
    return np.array(divisors, np.float32).reshape(-1, 1)


def cells_of(model, batch):
    """Float32 rows, one a cell, before LayerNorm."""
    with np.errstate(all="ignore"):
        if batch.part == "position":
            return model.position[position_rows(model, batch)]
        total = token_rows(model, batch, batch.part == "composed")
        if batch.part == "token":
            return total
        addends = []
        if model.types is not None and (batch.types is not None or not model.only_when_sent):
            addends.append(model.types[batch.types if batch.types is not None else [0] * len(total)])
        if model.position is not None:
            addends.append(model.position[position_rows(model, batch)])
        if model.position_first:
            addends.reverse()
        for addend in addends:
            total = total + addend
        return total


def normalised(model, cells):
    """The exact LayerNorm, in double, and how far a row may be from it."""
    weight, bias, eps = (np.asarray(value, np.float64) for value in model.norm)
    with np.errstate(all="ignore"):
        x = cells.astype(np.float64)
        centred = x - x.mean(axis=1, keepdims=True)
        y = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps) * weight + bias
        largest = np.abs(y).max(axis=1, keepdims=True).astype(np.float32)
        return y, 4 * np.spacing(largest).astype(np.float64)


def fault(model, batch, actual):
    """What is wrong with the elements of a reply, or None."""
    longest = max([batch.padded_to, *batch.lengths])
    shape = (sum(batch.lengths), model.dim) if batch.packed else (len(batch.lengths), longest, model.dim)
    if actual.shape != shape:
        return f"shape {actual.shape}, expected {shape}"
    taken, padding = _split(batch, longest, actual)
    if padding.tobytes().strip(b"\0"):
        return "padding is not zero"
    cells = cells_of(model, batch)
    if batch.part == "composed" and model.zero_masked and batch.mask is not None:
        kept = np.array(batch.mask, bool)
        if taken[~kept].tobytes().strip(b"\0"):
            return "masked cells are not zero"
        taken, cells = taken[kept], cells[kept]
    if batch.part == "composed" and model.norm is not None:
        return _fault_of_norm(model, batch, taken, cells)
    exact = _as_stored(model, cells, batch.output)
    if elements.same(taken, exact, batch.output):
        return None
    return f"{np.count_nonzero(taken != exact)} of {exact.size} elements differ"


def _fault_of_norm(model, batch, taken, cells):
    y, slack = normalised(model, cells)
    low, high = (
        elements.widen(_as_stored(model, bound.astype(np.float32), batch.output), batch.output)
        for bound in (y - slack, y + slack)
    )
    value = elements.widen(taken, batch.output)
    good = np.where(np.isnan(low), np.isnan(value), (low <= value) & (value <= high))
    return None if good.all() else f"LayerNorm: {value[~good][0]} is outside [{low[~good][0]}, {high[~good][0]}]"


def _as_stored(model, values, kind):
    """float32 values as elements of a reply of that type."""
    return elements.raw(elements.saturated(values, kind) if model.saturate else values, kind)


def _split(batch, longest, actual):
    """The rows of the cells, and those of the padding."""
    if batch.packed:
        return actual, actual[:0]
    columns, lengths = np.arange(longest)[None], np.array(batch.lengths, np.int64)[:, None]
    taken = columns >= longest - lengths if batch.left else columns < lengths
    return actual[taken], actual[~taken]
