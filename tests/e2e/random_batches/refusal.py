"""Why an EmbedRequest must be refused, by the comments of the protos: the server's words, found on another way.

Each rule is looked at on its own, so that a request may break several. Which of them the server names is its affair, as
long as it is one of them; what cannot be told because of another fault (a cell of a batch without a shape) is left out.
"""

from random_batches import refusal_of_cells
from random_batches.faults import (
    FAILED,
    LARGEST,
    VECTORS,
    Faults,
    data_type,
    extents,
    ids_tensor,
    model_of,
    output_type,
    quote,
    unknown_enum,
)
from support.stubs import embedding_pb2 as pb

_IDS_SHAPES = ("(batch_size, sequence_length)", "(sum of row_lengths)")


def faults_of(world, request):
    """All that is wrong with a request that can be told; nothing where it is valid."""
    faults = Faults()
    model = model_of(world, request.model, request.model_version, faults)
    if model is not None:
        _tables(world, model, request, faults)
        _abilities(model, request, faults)
    if request.HasField("output_target"):
        switch = "server.shared_memory.prefix in the server's configuration"
        text = f"regions of shared memory are off; {switch} turns them on"
        faults.add("output_target", "REGIONS_OFF", text, FAILED)
    _enums(request, faults)
    output_type(request.output_type, faults)
    if request.position_ids and request.position_offsets:
        faults.option("positions twice", "position_ids and position_offsets exclude each other")
    shape = _sources(request, faults) and _shape(request, faults)
    if shape:
        refusal_of_cells.add(world, model, request, shape, faults)
    return faults


def _tables(world, model, request, faults):
    checksum = world.checksums[model.name]
    if request.if_checksum not in ("", checksum):
        asked = quote(request.if_checksum)
        text = f'the tables of model "{model.name}" have checksum "{checksum}", but if_checksum is {asked}'
        faults.add("if_checksum", "TABLES_CHANGED", text, FAILED)


def _abilities(model, request, faults):
    """What the model, or the part of it, has not."""
    if request.unique and request.part != pb.PART_TOKEN:
        faults.option("unique part", "unique needs part TOKEN: only token rows are the same for equal ids")
    if request.unique and request.HasField("inputs_embeds"):
        faults.option("unique vectors", "unique and inputs_embeds exclude each other")
    if request.part == pb.PART_POSITION and model.rows == 0:
        text = f'model "{model.name}" has no position table; its position encoding is {model.encoding}'
        faults.add("no positions", "NO_POSITION_TABLE", text, FAILED)
    if request.token_type_ids and not model.has_types:
        text = f'model "{model.name}" adds no token types; send no token_type_ids'
        faults.add("no types", "NO_TOKEN_TYPES", text, FAILED)


def _enums(request, faults):
    for field, allowed in (
        ("part", "COMPOSED, TOKEN, POSITION"),
        ("ragged_layout", "PADDED, PACKED"),
        ("padding_side", "RIGHT, LEFT"),
    ):
        number = getattr(request, field)
        if not 0 <= number <= allowed.count(",") + 1:
            unknown_enum(field, number, allowed, faults)


def _sources(request, faults):
    """Whether there is at most one source of rows, and it is a tensor as its own fields say."""
    given = ["ids"] * bool(request.ids)
    given += [field for field in ("ids_tensor", "inputs_embeds") if request.HasField(field)]
    if len(given) > 1:
        faults.option("sources", f"{given[0]} and {given[1]} exclude each other")
        return False
    if "ids_tensor" in given:
        return ids_tensor(request.ids_tensor, request.row_lengths, _IDS_SHAPES, faults)
    return "inputs_embeds" not in given or _vectors(request, faults)


def _vectors(request, faults):
    """Whether they have a type and a rank; the rest hangs on the shape of the batch."""
    tensor = request.inputs_embeds
    kind = data_type("inputs_embeds.data_type", tensor.data_type, "type of vectors", VECTORS, faults)
    ragged = len(request.row_lengths) > 0
    if len(tensor.shape) == (2 if ragged else 3):
        return kind is not None
    wanted = "(sum of row_lengths, embedding_dim)" if ragged else "(batch_size, sequence_length, embedding_dim)"
    faults.shape("inputs_embeds.shape", f"inputs_embeds.shape must be {wanted}, got {extents(tensor.shape)}")
    return False


def _shape(request, faults):
    """The shape of the batch, or None."""
    before = len(faults)
    packed = request.ragged_layout == pb.RAGGED_LAYOUT_PACKED
    left = request.padding_side == pb.PADDING_SIDE_LEFT
    shape = _ragged(request, packed, faults) if request.row_lengths else _rectangular(request, faults)
    if request.row_lengths and packed and left:
        faults.option("padding of packed", "padding_side LEFT does not go with ragged_layout PACKED")
    for given, words in ((packed, "ragged_layout PACKED"), (left, "padding_side LEFT")):
        if given and not request.row_lengths:
            faults.option("needs row_lengths", f"{words} needs row_lengths")
    return shape if len(faults) == before else None


def _rectangular(request, faults):
    shape = refusal_of_cells.Shape(request.batch_size, request.sequence_length)
    for field in ("ids_tensor", "inputs_embeds"):
        if not request.HasField(field):
            continue
        for axis, name in enumerate(("batch_size", "sequence_length")):
            said, extent = getattr(request, name), getattr(request, field).shape[axis]
            if said not in (0, extent):
                text = f"{name} {said} contradicts the shape of {field}, which says {extent}"
                faults.shape("contradiction", text)
            setattr(shape, name, extent)
    if shape.batch_size < 0:
        faults.shape("batch_size", f"batch_size must be >= 0, got {shape.batch_size}")
    if shape.sequence_length < 1:
        faults.shape("sequence_length", f"sequence_length must be >= 1, got {shape.sequence_length}")
    elif shape.batch_size > 0 and shape.cells > LARGEST:
        text = f"ids has {len(request.ids)} values, but {shape.describe()} asks for more than 2^63 - 1"
        faults.shape("too many cells", text)
    return shape


def _ragged(request, packed, faults):
    lengths, said = list(request.row_lengths), request.sequence_length
    negative = [b for b, length in enumerate(lengths) if length < 0]
    if negative:
        faults.shape("row_lengths", f"row_lengths[{negative[0]}] = {lengths[negative[0]]} must be >= 0")
    if sum(length for length in lengths if length > 0) > LARGEST:
        faults.shape("row_lengths", "row_lengths sum up to more than 2^63 - 1")
    longest = max(lengths)
    if request.batch_size not in (0, len(lengths)):
        text = f"row_lengths has {len(lengths)} values, but batch_size is {request.batch_size}"
        faults.shape("ragged batch_size", text)
    if said < 0:
        faults.shape("ragged sequence_length", f"sequence_length must be >= 0 with row_lengths, got {said}")
    elif 0 < said < longest:
        text = f"sequence_length {said} is less than the longest of row_lengths, {longest}"
        faults.shape("ragged sequence_length", text)
    return refusal_of_cells.Shape(len(lengths), longest if packed else max(longest, said), lengths, packed)
