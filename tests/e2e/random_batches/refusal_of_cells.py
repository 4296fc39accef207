"""The rules that hang on the shape of a batch: counts, limits, positions and the values of cells. See refusal.py."""

import bisect
import dataclasses
import itertools

from random_batches.batches import ANY_POSITION
from random_batches.faults import ELEMENT_SIZE, LARGEST, RESULTS, TOO_LARGE, extents
from random_batches.meaning import KINDS, ids_of
from support.stubs import embedding_pb2 as pb


@dataclasses.dataclass
class Shape:
    """B and T of a batch, and the lengths of its rows where they are ragged."""

    batch_size: int
    sequence_length: int
    lengths: list = None
    packed: bool = False

    @property
    def cells(self):
        return self.batch_size * self.sequence_length if self.lengths is None else sum(self.lengths)

    @property
    def starts(self):
        return [0, *itertools.accumulate(self.lengths)]

    def row(self, b):
        """The cells of a row."""
        if self.lengths is None:
            return slice(b * self.sequence_length, (b + 1) * self.sequence_length)
        return slice(*self.starts[b : b + 2])

    def length(self, b):
        return self.sequence_length if self.lengths is None else self.lengths[b]

    def name(self, field, cell):
        """A cell as messages name it."""
        if self.lengths is None:
            return f"{field}[{cell // self.sequence_length}][{cell % self.sequence_length}]"
        b = bisect.bisect_right(self.starts, cell) - 1
        return f"{field}[{b}][{cell - self.starts[b]}]"

    def describe(self):
        if self.lengths is None:
            return f"batch_size {self.batch_size} x sequence_length {self.sequence_length}"
        return f"row_lengths has {self.batch_size} values summing to {self.cells}"

    def output(self, dim):
        return (self.cells, dim) if self.packed else (self.batch_size, self.sequence_length, dim)


def add(world, model, request, shape, faults):
    """Adds the faults of a request whose batch has a shape, and whose model may be unknown."""
    _limits(world.limits, model, request, shape, faults)
    before = len(faults)
    _counts(request, shape, faults)
    if model is not None and request.HasField("inputs_embeds"):
        _vectors(model, request.inputs_embeds, shape, faults)
    if len(faults) > before:
        return
    _mask(request, shape, faults)
    if model is not None:
        _values(model, request, shape, faults)
        _positions(model, request, shape, faults)


def _limits(limits, model, request, shape, faults):
    for name, noun in (("batch_size", "batch"), ("sequence_length", "sequence")):
        asked, most = getattr(shape, name), getattr(limits, f"max_{name}")
        if asked > most:
            text = f"{name} {asked} exceeds max_{name} {most} of this server; split the {noun}"
            faults.add(f"max_{name}", "REQUEST_TOO_LARGE", text, TOO_LARGE)
    output = "float32" if request.output_type == 0 else KINDS.get(request.output_type)
    if model is None or request.unique or output not in RESULTS:
        return
    needed = ELEMENT_SIZE[output]
    for extent in shape.output(model.dim):
        needed *= extent
    if needed > limits.max_response_bytes:
        text = (
            f"the {extents(shape.output(model.dim))} {output} reply needs "
            f"{needed if needed <= LARGEST else 'more than 2^63 - 1'} bytes, which exceeds max_response_bytes "
            f"{limits.max_response_bytes} of this server; ask for fewer rows a call, or by EmbedChunks"
        )
        faults.add("max_response_bytes", "RESPONSE_TOO_LARGE", text, TOO_LARGE)


def _counts(request, shape, faults):
    ids, cells = len(ids_of(request)), shape.cells
    needs_ids = not request.HasField("inputs_embeds") and request.part != pb.PART_POSITION
    if (ids > 0 or needs_ids) and ids != cells:
        text = f"ids has {ids} values, but {shape.describe()} asks for {cells}"
        if shape.lengths is not None:
            text = f"{shape.describe()}, but ids has {ids} values"
        faults.shape("ids count", text)
    offsets = len(request.position_offsets)
    if offsets > 1 and offsets != shape.batch_size:
        allowed = f"none, 1 or batch_size = {shape.batch_size}"
        faults.shape("position_offsets count", f"position_offsets has {offsets} values; allowed are {allowed}")
    by_cell = f"none or the sum of row_lengths = {cells}"
    if shape.lengths is None:
        by_cell = f"none or batch_size x sequence_length = {cells}"
        positions = f"none, sequence_length = {shape.sequence_length} or batch_size x sequence_length = {cells}"
    for field in ("position_ids", "token_type_ids", "attention_mask"):
        count, allowed, texts = len(getattr(request, field)), {0, cells}, by_cell
        if field == "position_ids" and shape.lengths is None:
            allowed.add(shape.sequence_length)
            texts = positions
        if count not in allowed:
            faults.shape(f"{field} count", f"{field} has {count} values; allowed are {texts}")


def _vectors(model, tensor, shape, faults):
    wanted = (shape.cells, model.dim) if shape.lengths is not None else shape.output(model.dim)
    if tuple(tensor.shape) != wanted:
        text = (
            f"inputs_embeds has shape {extents(tensor.shape)}, expected {extents(wanted)}: "
            f'{shape.describe()}, embedding_dim {model.dim} of model "{model.name}"'
        )
        faults.shape("inputs_embeds", text)
        return
    kind = KINDS[tensor.data_type]
    needed = shape.cells * model.dim * ELEMENT_SIZE[kind]
    if needed != len(tensor.data):
        count = needed if needed <= LARGEST else "more than 2^63 - 1"
        text = f"inputs_embeds has {len(tensor.data)} bytes, but {extents(tensor.shape)} {kind} needs {count}"
        faults.shape("inputs_embeds", text)


def _first_outside(values, end):
    return next((i for i, value in enumerate(values) if not 0 <= value < end), None)


def _mask(request, shape, faults):
    mask = request.attention_mask
    i = _first_outside(mask, 2)
    if i is not None:
        faults.option("attention_mask", f"{shape.name('attention_mask', i)} = {mask[i]} must be 0 or 1")


def _values(model, request, shape, faults):
    types = request.token_type_ids
    if types and model.has_types:
        i = _first_outside(types, len(model.types))
        if i is not None:
            cell, end = shape.name("token_type_ids", i), len(model.types)
            text = f'{cell} = {types[i]} is outside [0, {end}) of model "{model.name}"'
            faults.add("token_type_ids", "TOKEN_TYPE_OUT_OF_RANGE", text)
    ids = ids_of(request)
    i = _first_outside(ids, model.vocab_size) if model.out_of_range == "error" else None
    if i is not None:
        text = f'{shape.name("ids", i)} = {ids[i]} is outside [0, {model.vocab_size}) of model "{model.name}"'
        faults.add("ids", "ID_OUT_OF_RANGE", text)


def _positions(model, request, shape, faults):
    used = request.part != pb.PART_TOKEN and model.rows > 0
    if request.position_ids:
        _position_ids(model, request.position_ids, shape, used, faults)
        return
    offsets = request.position_offsets
    i = _first_outside(offsets, ANY_POSITION)
    if i is not None:
        allowed = "must be >= 0" if offsets[i] < 0 else "must be less than 2^62"
        faults.add("position_offsets", "POSITION_OUT_OF_RANGE", f"position_offsets[{i}] = {offsets[i]} {allowed}")
    elif used:
        _lengths(model, request, shape, faults)


def _position_ids(model, positions, shape, used, faults):
    end = model.rows - model.row_offset if used else ANY_POSITION
    i = _first_outside(positions, end)
    if i is None:
        return
    cell = shape.name("position_ids", i) if len(positions) == shape.cells else f"position_ids[{i}]"
    allowed = "must be >= 0" if positions[i] < 0 else "must be less than 2^62"
    if used:
        allowed = f'is outside [0, {end}) of model "{model.name}"'
    faults.add("position_ids", "POSITION_OUT_OF_RANGE", f"{cell} = {positions[i]} {allowed}")


def _lengths(model, request, shape, faults):
    """The first row that goes past the position table."""
    ids, mask, offsets = ids_of(request), request.attention_mask, request.position_offsets
    by_ids = model.numbering == "padding" and ids
    by_mask = model.numbering in ("sequential", "mask") and mask
    same = shape.lengths is None and not by_ids and not by_mask and len(offsets) <= 1
    for b in range(min(shape.batch_size, 1) if same else shape.batch_size):
        length = counted = shape.length(b)
        if by_ids:
            counted = sum(i != model.padding_idx for i in ids[shape.row(b)])
        elif by_mask:
            counted = sum(value != 0 for value in mask[shape.row(b)])
        which = 0 if len(offsets) == 1 else b
        offset = offsets[which] if offsets else 0
        if counted == 0 or offset + counted <= model.room:
            continue
        what = f"sequence_length {counted}" if shape.lengths is None else f"row_lengths[{b}] = {counted}"
        if offset > 0:
            noun = "sequence_length" if counted == length else "counted positions"
            what = f"position_offsets[{which}] = {offset} with {noun} {counted}"
        elif counted != length:
            what = f"{counted} {'ids that are no padding' if by_ids else 'unmasked cells'} in row {b}"
        reason = "POSITION_OUT_OF_RANGE" if offset > 0 else "SEQUENCE_TOO_LONG"
        faults.add("length", reason, f'{what} exceeds max_context_length {model.room} of model "{model.name}"')
        return
