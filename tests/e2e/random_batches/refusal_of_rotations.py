"""Why a RotateRequest or RotaryTableRequest must be refused, and what a valid one means. See refusal.py."""

import numpy as np

from random_batches import refusal_of_scaling
from random_batches.faults import (
    ELEMENT_SIZE,
    FAILED,
    LARGEST,
    TOO_LARGE,
    VECTORS,
    Faults,
    data_type,
    extents,
    model_of,
    output_type,
    quote,
    unknown_enum,
)
from random_batches.meaning import KINDS, tensor_of
from random_batches.rotary_formulas import Rotation
from random_batches.rotations import LAST_POSITION, Turn
from support.stubs import rotary_pb2 as pb


def faults_of_turn(world, request):
    """All that is wrong with a RotateRequest."""
    faults = Faults()
    rotation = rotation_of(world, request, faults)
    if request.output_layout not in pb.RotaryOutput.values():
        unknown_enum("output_layout", request.output_layout, "SAME, SPLIT", faults)
    output_type(request.output_type, faults)
    if request.position_ids and request.position_offsets:
        faults.option("positions twice", "position_ids and position_offsets exclude each other")
    _scaling_length(request, faults)
    if rotation is not None:
        _options(request, rotation, faults)
    if not request.HasField("vectors"):
        faults.shape("vectors", "vectors are missing")
        return faults
    vectors = request.vectors
    kind = data_type("vectors.data_type", vectors.data_type, "type of vectors", VECTORS, faults)
    shape = list(vectors.shape)
    if len(shape) < 2 or min(shape) < 0:
        need = "vectors.shape must have two axes or more, none of them negative, and head_dim as the last"
        faults.shape("vectors.shape", f"{need}; got {extents(shape)}")
        return faults
    if rotation is not None:
        rotation.head_dim = rotation.head_dim or shape[-1]
        if shape[-1] != rotation.head_dim:
            text = f"the last axis of vectors.shape {extents(shape)} must be head_dim = {rotation.head_dim}"
            faults.shape("head_dim of vectors", text)
        refusal_of_scaling.add(rotation, faults)
    if kind is not None:
        _bytes(vectors, kind, faults)
    axis = _axis(request, shape, faults)
    if axis is not None:
        _positions(world, request, 1 if axis == 0 else shape[0], shape[axis], faults)
    return faults


def faults_of_table(world, request):
    """All that is wrong with a RotaryTableRequest."""
    faults = Faults()
    rotation = rotation_of(world, request, faults)
    first, length, most = request.first_position, request.length, world.limits.max_sequence_length
    if length < 1:
        faults.shape("length", f"length must be >= 1, got {length}")
    if length > most:
        text = f"length {length} exceeds max_sequence_length {most} of this server"
        faults.add("max_sequence_length", "REQUEST_TOO_LARGE", text, TOO_LARGE)
    if not 0 <= first <= LAST_POSITION + 1 - length:
        text = f"first_position = {first} with length {length} leaves [0, {LAST_POSITION}]"
        faults.add("first_position", "POSITION_OUT_OF_RANGE", text)
    _scaling_length(request, faults)
    if rotation is not None:
        refusal_of_scaling.add(rotation, faults)
    return faults


def rotation_of(world, request, faults):
    """The parameters in use, as far as they can be told: those given go before those of the model."""
    given = request.parameters if request.HasField("parameters") else None
    merged = pb.RotaryParameters()
    if not request.model:
        if given is None:
            faults.option("nothing to turn by", "name a model with a rotary encoding, or give parameters")
            return None
        if request.model_version or request.layer_type:
            faults.option("needs a model", "model_version and layer_type need a model")
    elif (model := model_of(world, request.model, request.model_version, faults)) is None:
        return None
    elif request.layer_type:
        text = f'model "{request.model}" has no layer_type {quote(request.layer_type)}; it has none'
        faults.option("layer_type", text)
        return None
    elif model.turned is not None:
        merged.CopyFrom(model.turned)
    elif given is None:
        what = f"has no rotary encoding; its position encoding is {model.encoding}; give parameters"
        faults.add("no rotary", "NO_ROTARY", f'model "{request.model}" {what}', FAILED)
        return None
    if given is not None:
        if given.HasField("scaling"):
            merged.ClearField("scaling")
        if given.pairing not in pb.RotaryPairing.values():
            unknown_enum("parameters.pairing", given.pairing, "HALF, INTERLEAVED", faults)
        merged.MergeFrom(given)
    scaling = {field.name: value for field, value in merged.scaling.ListFields()}
    kind = scaling.pop("type", "")
    theta = merged.theta if merged.HasField("theta") else 10000.0
    interleaved = merged.pairing == pb.ROTARY_PAIRING_INTERLEAVED
    return Rotation(merged.head_dim, merged.rotary_dim, theta, kind, scaling, interleaved)


def _options(request, rotation, faults):
    if request.output_layout != pb.ROTARY_OUTPUT_SPLIT:
        return
    if not rotation.interleaved:
        faults.option("split of halves", "output_layout SPLIT goes with pairing INTERLEAVED only")
    if request.inverse:
        words = "exclude each other; a SPLIT result is turned back with pairing HALF"
        faults.option("inverse of split", f"inverse and output_layout SPLIT {words}")


def _scaling_length(request, faults):
    length = request.scaling_length
    if request.HasField("scaling_length") and not 1 <= length <= LAST_POSITION + 1:
        faults.option("scaling_length", f"scaling_length must be from 1 to {LAST_POSITION + 1}, got {length}")


def _bytes(vectors, kind, faults):
    needed = ELEMENT_SIZE[kind]
    for extent in vectors.shape:
        needed *= extent
    if needed != len(vectors.data):
        count = needed if needed <= LARGEST else "more than 2^63 - 1"
        text = f"vectors.data has {len(vectors.data)} bytes, but {extents(vectors.shape)} {kind} needs {count}"
        faults.shape("vectors.data", text)


def _axis(request, shape, faults):
    """The axis of the sequence, from 0."""
    rank = len(shape)
    asked = request.sequence_axis if request.HasField("sequence_axis") else (0 if rank == 2 else 1)
    axis = asked + rank if asked < 0 else asked
    if 0 <= axis < rank - 1:
        return axis
    allowed = f"allowed are 0 to {rank - 2}, or {-rank} to -2"
    text = f"sequence_axis {asked} is no axis before the last of vectors.shape {extents(shape)}; {allowed}"
    faults.shape("sequence_axis", text)
    return None


def _positions(world, request, rows, tokens, faults):
    for name, asked, noun in (("batch_size", rows, "batch"), ("sequence_length", tokens, "sequence")):
        most = getattr(world.limits, f"max_{name}")
        if asked > most:
            text = f"{name} {asked} exceeds max_{name} {most} of this server; split the {noun}"
            faults.add(f"max_{name}", "REQUEST_TOO_LARGE", text, TOO_LARGE)
    if tokens < 1:
        faults.shape("sequence_length", f"sequence_length must be >= 1, got {tokens}")
        return
    offsets, ids = request.position_offsets, request.position_ids
    if len(offsets) > 1 and len(offsets) != rows:
        text = f"position_offsets has {len(offsets)} values; allowed are none, 1 or batch_size = {rows}"
        faults.shape("position_offsets count", text)
    for b, offset in enumerate(offsets):
        if not 0 <= offset <= LAST_POSITION + 1 - tokens:
            text = f"position_offsets[{b}] = {offset} with sequence_length {tokens} leaves [0, {LAST_POSITION}]"
            faults.add("position_offsets", "POSITION_OUT_OF_RANGE", text)
            break
    if len(ids) not in (0, tokens, rows * tokens):
        allowed = f"none, sequence_length = {tokens} or batch_size x sequence_length = {rows * tokens}"
        faults.shape("position_ids count", f"position_ids has {len(ids)} values; allowed are {allowed}")
        return
    outside = next((i for i, position in enumerate(ids) if not 0 <= position <= LAST_POSITION), None)
    if outside is not None:
        cell = f"[{outside // tokens}][{outside % tokens}]" if len(ids) == rows * tokens else f"[{outside}]"
        text = f"position_ids{cell} = {ids[outside]} is outside [0, {LAST_POSITION}]"
        faults.add("position_ids", "POSITION_OUT_OF_RANGE", text)


def turn_of(world, request):
    """The Turn that a valid RotateRequest means."""
    rotation = rotation_of(world, request, Faults())
    vectors = request.vectors
    shape = tuple(vectors.shape)
    rotation.head_dim = shape[-1]
    axis = _axis(request, shape, Faults())
    rows, tokens = 1 if axis == 0 else shape[0], shape[axis]
    ids, offsets = list(request.position_ids), list(request.position_offsets) or [0]
    positions = [ids[b * tokens :][:tokens] if len(ids) > tokens else ids for b in range(rows)]
    if not ids:
        starts = offsets if len(offsets) == rows else offsets * rows
        positions = [list(range(start, start + tokens)) for start in starts]
    kind = KINDS[vectors.data_type]
    return Turn(
        rotation,
        np.asarray(tensor_of(vectors)).reshape(shape),
        kind,
        KINDS[request.output_type or 1],
        axis,
        positions,
        request.scaling_length or None,
        request.inverse,
        request.output_layout == pb.ROTARY_OUTPUT_SPLIT,
    )
