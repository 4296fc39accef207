"""Requests of EmbedBags with something broken in them, and why they must be refused. See refusal.py."""

import math

from random_batches.bags import lengths_of
from random_batches.faults import TOO_LARGE, Fault, Faults, ids_tensor, model_of, output_type, unknown_enum
from random_batches.meaning import ids_of
from support.stubs import bags_pb2 as pb

_WILD = (-1, 5, 2**31, 2**62, 2**63 - 1, -(2**63))
_IDS_SHAPES = ("(B, T) without row_lengths", "(number of ids) with row_lengths")


def spoil(random, request):
    """Breaks one to three things of the request in place; it may still be valid by chance."""
    for _ in range(random.choice((1, 1, 2, 3))):
        bag = random.choice(request.bags) if request.bags else request.bags.add()
        random.choice(_SPOILERS)(random, request, bag)


def _wild_value(random, request, bag):
    values = random.choice((bag.ids, bag.row_lengths))
    if values:
        values[random.randrange(len(values))] = random.choice(_WILD)


def _wrong_count(random, request, bag):
    values = random.choice((bag.ids, bag.row_lengths, bag.weights))
    if values and random.random() < 0.5:
        del values[random.randrange(len(values)) :]
    else:
        values.extend([random.choice((0, 1, 2))] * random.choice((1, 2, 41, 251)))


def _wrong_weight(random, request, bag):
    if bag.weights:
        bag.weights[random.randrange(len(bag.weights))] = random.choice((math.inf, -math.inf, math.nan))


def _wrong_mode(random, request, bag):
    bag.mode = random.choice((pb.BAG_MODE_MAX, pb.BAG_MODE_MAX, 5, -1, 2**31 - 1))


def _wrong_tensor(random, request, bag):
    tensor = bag.ids_tensor
    drawn = random.randrange(4)
    if drawn == 0:
        tensor.data_type = random.choice((*range(9), 99))
    elif drawn == 1 and tensor.shape:
        tensor.shape[random.randrange(len(tensor.shape))] = random.choice((*_WILD, 0, 41))
    elif drawn == 2:
        tensor.shape.append(random.choice((0, 1, 2**62)))
    else:
        tensor.data += b"x" * random.choice((1, 8))


def _wrong_name(random, request, bag):
    bag.model = random.choice(("", "nobody", "random-0\n"))


def _wrong_version(random, request, bag):
    bag.model_version = "2"


def _other_kind(random, request, bag):
    request.output_type = random.choice((4, 5, 8, 9, -1))


def _other_bags(random, request, bag):
    count = random.choice((0, 1024, 1025))
    del request.bags[count:]
    while len(request.bags) < count:
        request.bags.add(model="random-1")


def _together(random, request, bag):
    request.concatenate = True


def _many_bags(random, request, bag):
    """More rows than a request may have; all of them empty."""
    bag.ids.extend([0] * len(ids_of(bag)) if not bag.HasField("ids_tensor") else [])
    bag.row_lengths.extend([0] * random.choice((40, 41)))


_SPOILERS = (
    *(_wild_value, _wrong_count) * 3,
    *(_wrong_weight, _wrong_mode, _wrong_tensor) * 2,
    *(_wrong_name, _wrong_version, _other_kind, _other_bags, _together, _many_bags),
)


def faults_of(world, request):
    """All that may be named: the request's own faults, and those of the first bag that has any."""
    faults, first = Faults(), None
    output_type(request.output_type, faults)
    if not 1 <= len(request.bags) <= 1024:
        faults.option("bags", f"bags has {len(request.bags)} values; allowed are 1 to 1024")
    for i, bag in enumerate(request.bags):
        own = Faults()
        rows = _bag(world, bag, own)
        first = rows if i == 0 else first
        if request.concatenate and rows != first:
            text = f"row_lengths has {rows} bags, but bags[0] has {first}; concatenate needs as many"
            own.shape("concatenate", text)
        if own:
            faults += [Fault(each.rule, each.code, each.reason, f"bags[{i}].{each.text}") for each in own]
            break
    return faults


def _bag(world, bag, faults):
    """Adds a bag's faults; returns how many rows it has, as far as that can be told."""
    unnamed = Faults()
    model = model_of(world, bag.model, bag.model_version, unnamed)
    faults += [Fault(each.rule, each.code, each.reason, f"model: {each.text}") for each in unnamed]
    if bag.mode not in pb.BagMode.values():
        unknown_enum("mode", bag.mode, "SUM, MEAN, MAX, SQRTN", faults)
    if bag.weights and bag.mode == pb.BAG_MODE_MAX:
        faults.option("weights of max", "weights do not go with mode MAX")
    if bag.HasField("ids_tensor") and bag.ids:
        faults.option("sources", "ids and ids_tensor exclude each other")
        return len(bag.row_lengths)
    if bag.HasField("ids_tensor") and not ids_tensor(bag.ids_tensor, bag.row_lengths, _IDS_SHAPES, faults):
        return len(bag.row_lengths)
    rows = bag.ids_tensor.shape[0] if bag.HasField("ids_tensor") and not bag.row_lengths else len(bag.row_lengths)
    most = world.limits.max_batch_size
    if rows > most:
        text = f"row_lengths has {rows} bags, which exceeds max_batch_size {most} of this server; split the bags"
        faults.add("max_batch_size", "REQUEST_TOO_LARGE", text, TOO_LARGE)
        return rows
    ids = ids_of(bag)
    _lengths(world, lengths_of(bag), len(ids), faults)
    _weights(bag, ids, faults)
    if model is not None and model.out_of_range == "error":
        outside = next((i for i, given in enumerate(ids) if not 0 <= given < model.vocab_size), None)
        if outside is not None:
            text = f'ids[{outside}] = {ids[outside]} is outside [0, {model.vocab_size}) of model "{model.name}"'
            faults.add("ids", "ID_OUT_OF_RANGE", text)
    return rows


def _lengths(world, lengths, ids, faults):
    most, total = world.limits.max_sequence_length, 0
    for b, length in enumerate(lengths):
        if length < 0:
            faults.shape("row_lengths", f"row_lengths[{b}] = {length} is negative")
            return
        if length > ids - total:
            faults.shape("row_lengths", f"row_lengths sum to more than the {ids} values of ids")
            return
        if length > most:
            text = f"row_lengths[{b}] = {length} exceeds max_sequence_length {most} of this server; split the bag"
            faults.add("row_lengths", "REQUEST_TOO_LARGE", text, TOO_LARGE)
            return
        total += length
    if total != ids:
        faults.shape("row_lengths", f"row_lengths sum to {total}, but ids has {ids} values")


def _weights(bag, ids, faults):
    if bag.weights and len(bag.weights) != len(ids):
        text = f"weights has {len(bag.weights)} values; allowed are none or one an id = {len(ids)}"
        faults.shape("weights count", text)
    for i, weight in enumerate(bag.weights):
        if not math.isfinite(weight):
            faults.option("weights", f"weights[{i}] = {weight} is not finite")
            return
