"""Random calls of EmbedBags, and what they must come to by the comments of bags.proto."""

import numpy as np

from random_batches import elements
from random_batches.meaning import KINDS, ids_of
from support.stubs import bags_pb2 as pb

_MODES = (pb.BAG_MODE_UNSPECIFIED, pb.BAG_MODE_SUM, pb.BAG_MODE_MEAN, pb.BAG_MODE_MAX, pb.BAG_MODE_SQRTN)


def draw(random, models):
    """A valid request for some of the models."""
    request = pb.EmbedBagsRequest(concatenate=random.random() < 0.4)
    output = random.choice(("float32", "float16", "bfloat16"))
    if output != "float32" or random.random() < 0.5:
        request.output_type = elements.WIRE[output]
    rows = random.randint(0, 6)
    for _ in range(random.choice((1, 1, 2, 5))):
        rows = rows if request.concatenate else random.randint(0, 6)
        _draw_bag(random, random.choice(models), rows, request.bags.add())
    return request


def _draw_bag(random, model, rows, bag):
    bag.model, bag.mode = model.name, random.choice(_MODES)
    even = random.random() < 0.3
    lengths = [random.choice((0, 1, 3, 30))] * rows if even else [random.randint(0, 20) for _ in range(rows)]
    cells = sum(lengths)
    ids = np.array([_draw_id(random, model) for _ in range(cells)], np.int64)
    kind = random.choice(("int32", "int64"))
    if even:
        shape = (rows, lengths[0] if rows else 0)
        bag.ids_tensor.CopyFrom(elements.to_wire(elements.raw(ids, kind).reshape(shape), kind))
    else:
        bag.row_lengths.extend(lengths)
        if lengths and random.random() < 0.3:
            bag.ids_tensor.CopyFrom(elements.to_wire(elements.raw(ids, kind), kind))
        else:
            bag.ids.extend(ids.tolist())
    if bag.mode != pb.BAG_MODE_MAX and random.random() < 0.5:
        bag.weights.extend(random.choice((random.uniform(-2, 2), 0.0, 1.0)) for _ in range(cells))
    if random.random() < 0.1:
        bag.model_version = "1"


def _draw_id(random, model):
    if model.padding_idx is not None and random.random() < 0.2:
        return model.padding_idx
    if model.out_of_range != "error" and random.random() < 0.2:
        return random.choice((-1, model.vocab_size, 2**31 - 1, -(2**31)))
    return random.randrange(model.vocab_size)


def expected(models, request):
    """The arrays of the reply, in the type of the output."""
    output = KINDS[request.output_type or 1]
    vectors = [_pooled(models[bag.model], bag) for bag in request.bags]
    for i, bag in enumerate(request.bags):
        if models[bag.model].saturate:
            vectors[i] = elements.saturated(vectors[i], output)
    if request.concatenate:
        vectors = [np.concatenate(vectors, axis=1)]
    return output, [elements.raw(each, output) for each in vectors]


def lengths_of(bag):
    """How many ids each of its bags has."""
    if bag.HasField("ids_tensor") and not bag.row_lengths:
        return [bag.ids_tensor.shape[1]] * bag.ids_tensor.shape[0]
    return list(bag.row_lengths)


def _pooled(model, bag):
    ids, weights, lengths = ids_of(bag), list(bag.weights), lengths_of(bag)
    out, start = np.zeros((len(lengths), model.dim), np.float32), 0
    for vector, length in zip(out, lengths):
        cells = [cell for cell in range(start, start + length) if ids[cell] != model.padding_idx]
        start += length
        if cells:
            rows = [_row(model, ids[cell]) for cell in cells]
            vector[:] = _joined(bag.mode, rows, [np.float32(weights[cell]) for cell in cells] if weights else None)
    return out


def _row(model, given):
    """A float32 token row times the model's scale."""
    row = given if 0 <= given < model.vocab_size else model.out_of_range
    return (np.zeros(model.dim, np.float32) if row == "zero" else model.token[row]) * model.scale


def _joined(mode, rows, weights):
    """One bag: added in the order of the ids, every product rounded; the divisors are added in double."""
    with np.errstate(all="ignore"):
        if mode == pb.BAG_MODE_MAX:
            most = rows[0]
            for row in rows[1:]:
                most = np.where((row > most) | np.isnan(row), row, most)
            return most
        total = np.zeros_like(rows[0])
        for i, row in enumerate(rows):
            total = total + (row * weights[i] if weights else row)
        divisors = [float(weight) for weight in weights] if weights else [1.0] * len(rows)
        divisor = sum(divisors)
        if mode == pb.BAG_MODE_SUM:
            return total
        if mode == pb.BAG_MODE_SQRTN:
            divisor = np.sqrt(sum(weight * weight for weight in divisors))
        divisor = np.float32(divisor)
        return total / divisor if divisor != 0 else np.zeros_like(total)
