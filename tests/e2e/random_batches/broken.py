"""Valid requests with one to three things broken in them."""

from support.stubs import embedding_pb2 as pb
from support.stubs import tensor_pb2

_HUGE = (2**63 - 1, -(2**63), 2**62, 2**32, 2**31, -1, -(2**31), 2**62 + 1)
_PER_CELL = ("ids", "position_ids", "token_type_ids", "attention_mask", "row_lengths", "position_offsets")
_ENUMS = ("part", "output_type", "ragged_layout", "padding_side")
_TENSORS = ("ids_tensor", "inputs_embeds")


def spoil(random, request, model):
    """Breaks the request in place; what comes out may still be valid by chance."""
    if random.random() < 0.2:
        _at_the_edge(random, request, model)
        return
    for _ in range(random.choice((1, 1, 2, 3))):
        random.choice(_SPOILERS)(random, request)


def _at_the_edge(random, request, model):
    """The last value that is allowed, or the first that is not."""
    past = random.randrange(2)
    last = {"ids": model.vocab_size - 1, "position_ids": model.rows - model.row_offset - 1, "attention_mask": 1}
    last["token_type_ids"] = len(model.types) - 1 if model.has_types else 0
    given = [field for field in last if getattr(request, field)]
    if given and random.random() < 0.5:
        values = getattr(request, field := random.choice(given))
        values[random.randrange(len(values))] = last[field] + past
    elif model.rows > 0:
        _only_positions(random, request)
        length = random.choice((1, 7, model.room, model.room + past))
        request.batch_size, request.sequence_length = random.choice((1, 3)), length
        del request.position_offsets[:]
        if length <= model.room:
            request.position_offsets.append(model.room - length + past)


def _wild_value(random, request):
    values = getattr(request, random.choice(_PER_CELL))
    if values:
        values[random.randrange(len(values))] = random.choice(_HUGE)
    else:
        values.extend(random.choice(_HUGE) for _ in range(random.randint(1, 3)))


def _near_value(random, request):
    """Often just past what is allowed, so that neighbouring rules are told apart."""
    given = [values for values in (getattr(request, field) for field in _PER_CELL) if values]
    if given:
        values = random.choice(given)
        i = random.randrange(len(values))
        values[i] = max(-(2**63), min(2**63 - 1, values[i] + random.choice((-3, -1, 1, 2, 5, 40, 160))))


def _only_positions(random, request):
    """Positions of any length, which no ids belong to."""
    model, offsets = request.model, request.position_offsets[:1]
    request.Clear()
    request.model, request.part = model, pb.PART_POSITION
    request.batch_size = random.choice((0, 1, 1, 3, 40, 41))
    request.sequence_length = random.choice((1, 140, 155, 160, 170, 180, 250, 251, 2**40, 2**62))
    request.position_offsets.extend(offsets)


def _wrong_count(random, request):
    values = getattr(request, random.choice(_PER_CELL))
    if values and random.random() < 0.5:
        del values[random.randrange(len(values)) :]
    else:
        values.extend([random.choice((0, 1, 2))] * random.randint(1, 30))


def _wrong_extent(random, request):
    field = random.choice(("batch_size", "sequence_length"))
    wrong = random.choice((*_HUGE, 0, min(getattr(request, field), 100) + 1, 41, 251, 2**40))
    setattr(request, field, wrong)


def _wrong_enum(random, request):
    setattr(request, random.choice(_ENUMS), random.choice((9, 7, 4, -1, 2**31 - 1, -(2**31))))


def _other_enum(random, request):
    field = random.choice(_ENUMS)
    setattr(request, field, random.randint(0, 3))


def _packed_to_the_left(random, request):
    request.ragged_layout, request.padding_side = pb.RAGGED_LAYOUT_PACKED, pb.PADDING_SIDE_LEFT


def _wrong_tensor(random, request):
    tensor = getattr(request, random.choice(_TENSORS))
    drawn = random.randrange(4)
    if drawn == 0:
        tensor.data_type = random.choice((*range(9), 99, -5))
    elif drawn == 1 and tensor.shape:
        tensor.shape[random.randrange(len(tensor.shape))] = random.choice((*_HUGE, 0, 1))
    elif drawn == 2:
        tensor.shape.append(random.choice((0, 1, 2, *_HUGE)))
    else:
        tensor.data = tensor.data[: random.randint(0, len(tensor.data))] + b"x" * random.choice((0, 1, 8))


def _second_source(random, request):
    drawn = random.randrange(3)
    if drawn == 0:
        request.ids.append(0)
    elif drawn == 1:
        request.ids_tensor.data_type = tensor_pb2.DATA_TYPE_INT32
    else:
        request.inputs_embeds.data_type = tensor_pb2.DATA_TYPE_FLOAT32


def _no_such_model(random, request):
    request.model = random.choice(("", "nobody", "random-0 ", "random-0\0", "é" * 300))


def _no_such_version(random, request):
    request.model_version = random.choice(("2", "1\n", "x" * 2000))


def _not_served(random, request):
    request.output_target.SetInParent()


def _only_for_tokens(random, request):
    request.unique = True


def _other_tables(random, request):
    request.if_checksum = random.choice(("ab" * 32, "\0", "x" * 2000))


def _field_gone(random, request):
    request.ClearField(random.choice([field.name for field in pb.EmbedRequest.DESCRIPTOR.fields]))


_SPOILERS = (
    *(_wild_value, _wrong_count, _wrong_extent, _wrong_tensor) * 3,
    *(_near_value,) * 8,
    *(_only_positions,) * 2,
    *(_wrong_enum, _other_enum, _second_source, _field_gone, _packed_to_the_left),
    *(_no_such_model, _no_such_version, _not_served, _other_tables, _only_for_tokens),
)
