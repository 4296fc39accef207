"""Valid configurations of which two keys are made to contradict each other, or one the sizes beside it."""

import copy

from random_configs.breaking import Broken, NothingToBreak
from random_configs.writing import Quoted

_KINDS = ("none", "learned", "sinusoidal", "rotary")
_BAD_ADDRESSES = ("127.0.0.1", "1.2.3:80", "::1:80", "[::1]", "a b:1", "h:-1", "h:65536", "unix:", "[1.2.3.4]:1")
_BAD_NAMES = ("inference.x", "grpc.health", "embd.v1.a", "-a", ".", "a b", "é", "a" * 129, "a/b")


def contradict(random, content):
    """One of the rules below, broken."""
    copied = copy.deepcopy(content)
    if "models" not in copied:
        raise NothingToBreak
    number = random.randrange(len(copied["models"]))
    rule = random.choice(_RULES)
    steps, *says = rule(random, copied, copied["models"][number])
    if steps[:1] != ("server",):
        steps = ("models", number, *steps)
    return Broken(copied, steps, tuple(says))


def _need(condition):
    if not condition:
        raise NothingToBreak


def _set_tokens(model, dim):
    """Seeded rows, which need not have the id that pads."""
    model["token"] = {"seeded": {"vocab_size": 5, "embedding_dim": dim}}
    model.pop("padding_idx", None)


def _name_twice(random, content, model):
    _need(len(content["models"]) > 1 and model is content["models"][-1])
    model["name"] = content["models"][0]["name"]
    return ("name",), "must not be used twice", f'got "{model["name"]}"', "first on line"


def _bad_name(random, content, model):
    model["name"] = random.choice(_BAD_NAMES)
    reserved = model["name"].startswith(("inference.", "grpc.", "embd.v1."))
    return ("name",), "must not begin with" if reserved else "must be 1 to 128 letters, digits, '.', '_' or '-'"


def _bad_version(random, content, model):
    model["version"] = random.choice(_BAD_NAMES[3:])
    return ("version",), "must be 1 to 128 letters, digits, '.', '_' or '-'"


def _two_token_sources(random, content, model):
    _need("seeded" in model["token"])
    key, value = random.choice((("file", "t.npy"), ("tensor", "a"), ("vocabulary", "w.txt"), ("mmap", True)))
    model["token"][key] = value
    return ("token", key), "does not go with seeded"


def _two_positions(random, content, model):
    given = model.get("position")
    _need(isinstance(given, dict))
    kind = next(kind for kind in _KINDS if kind in given)
    other = random.choice([name for name in _KINDS if name != kind])
    given[other] = {"none": {}, "learned": {"file": "p.npy"}}.get(other, {"max_context_length": 4})
    return ("position",), f"must hold one of {', '.join(_KINDS)}, got {' and '.join(k for k in _KINDS if k in given)}"


def _nothing_to_number(random, content, model):
    kind = random.choice(("none", "rotary"))
    key, value = random.choice((("numbering", "fixed"), ("row_offset", 0)))
    model["position"] = {kind: {} if kind == "none" else {"head_dim": 4}, key: value}
    return ("position", key), f"does not go with {kind}"


def _padding_without_id(random, content, model):
    model.pop("padding_idx", None)
    model["position"] = {"learned": {"seeded": {"max_context_length": 9}}, "numbering": "padding"}
    return ("position", "numbering"), "padding needs padding_idx"


def _mask_without_offset(random, content, model):
    model["position"] = {"learned": {"file": "p.npy"}, "numbering": "mask"}
    if random.random() < 0.5:
        model["position"]["row_offset"] = 0
    return ("position", "numbering"), "mask needs row_offset >= 1"


def _grows_to_less(random, content, model):
    rows = random.randint(1, 50)
    grow_to = rows - random.choice((0, 1))
    model["position"] = {"sinusoidal": {"max_context_length": rows, "grow_to": grow_to, "layout": "half"}}
    return ("position", "sinusoidal", "grow_to"), f"must be an integer from {rows + 1} to 16777216"


def _no_row_left(random, content, model):
    padding = model.get("padding_idx")
    numbering = random.choice(("sequential", "fixed", "mask") + ("padding",) * (padding is not None))
    offset = random.randint(1, 3)
    begins = offset + (padding + 1 if numbering == "padding" else 0)
    rows = random.randint(1, begins)
    table = {"max_context_length": rows}
    kind = random.choice(({"learned": {"seeded": table}}, {"sinusoidal": table | {"layout": "half"}}))
    model["position"] = {**kind, "numbering": numbering, "row_offset": offset}
    return ("position", "row_offset"), f"begins at row {begins}, the table has {rows}"


def _width_of_layout(random, content, model):
    dim, layout, words = random.choice(
        ((7, "interleaved", "must be even"), (2, "tensor2tensor", "must not be 2 or 3"), (3, "tensor2tensor", "2 or 3"))
    )
    _set_tokens(model, dim)
    model["position"] = {"sinusoidal": {"max_context_length": 4, "layout": layout}}
    return ("position", "sinusoidal"), "embedding_dim", words, f"got {dim}"


def _widths_of_heads(random, content, model):
    widths, key, words = random.choice(
        (
            ({"head_dim": 7}, "head_dim", "must be even, got 7"),
            ({"head_dim": 8, "rotary_dim": 5}, "rotary_dim", "must be even, got 5"),
            ({"rotary_dim": 3}, "rotary_dim", "must be even, got 3"),
            ({"head_dim": 8, "rotary_dim": 10}, "rotary_dim", "must be at most head_dim 8, got 10"),
        )
    )
    if random.random() < 0.3:
        model["position"] = {"rotary": {"head_dim": 4, "layer_types": {"x": widths}}}
        return ("position", "rotary", "layer_types", "x", key), words
    model["position"] = {"rotary": widths}
    return ("position", "rotary", key), words


def _odd_tokens_turned(random, content, model):
    _set_tokens(model, 9)
    model["position"] = {"rotary": {"theta": 100}}
    return ("position", "rotary"), "embedding_dim must be even for rotary without head_dim, got 9"


def _two_types_of_scaling(random, content, model):
    model["position"] = {"rotary": {"head_dim": 4, "scaling": {"type": "linear", "rope_type": "ntk", "factor": 2}}}
    return ("position", "rotary", "scaling", "rope_type"), 'contradicts type "linear", got "ntk"'


def _nothing_to_round(random, content, model):
    model["token"].pop("scale", None)
    model["token"]["scale_rounding"] = "weight_dtype"
    return ("token", "scale_rounding"), "needs scale"


def _id_outside(random, content, model):
    _need("seeded" in model["token"])
    rows = model["token"]["seeded"]["vocab_size"]
    steps = random.choice((("token", "out_of_range", "unk"), ("token", "dropout_mask_id"), ("padding_idx",)))
    model["token"].pop("scale", None)
    model["token"].pop("scale_rounding", None)
    wrong = rows + random.choice((0, 1, 10**6))
    if steps[-1] == "unk":
        model["token"]["out_of_range"] = {"unk": wrong}
    else:
        (model["token"] if steps[0] == "token" else model)[steps[-1]] = wrong
    return steps, f"must be an integer from 0 to {rows - 1}"


def _scale_and_dropout(random, content, model):
    model["token"] |= {"scale": random.choice((2, "sqrt_dim")), "dropout_mask_id": 0}
    return ("token", "dropout_mask_id"), "does not go with scale"


def _side_of_nothing(random, content, model):
    model["side"] = "encoder"
    return ("side",), "needs path"


def _path_and_tokens(random, content, model):
    model["path"] = "folder"
    return ("path",), "does not go with token." + ("seeded" if "seeded" in model["token"] else "file")


def _half_a_layout(random, content, model):
    key, value, missing = random.choice(
        (("dtype", "float16", "shape"), ("shape", [3, 4], "dtype"), ("offset", 8, "dtype and shape"))
    )
    where, steps = model["token"], ("token",)
    if random.random() < 0.5:
        model["position"] = {"learned": {}}
        where, steps = model["position"]["learned"], ("position", "learned")
    where.clear()
    where |= {"file": "t.bin", key: value}
    return (*steps, key), f"needs {missing}"


def _sources_of_types(random, content, model):
    types, steps, words = random.choice(
        (
            ({"shared": True, "file": "t.npy"}, (), "must hold one of file, seeded, shared, got file and shared"),
            ({"only_when_sent": True}, (), "must hold one of file, seeded, shared, got none of them"),
            ({"shared": False}, ("shared",), "must be true where it is given"),
            ({"shared": True, "tensor": "a"}, ("tensor",), "does not go with shared"),
        )
    )
    model["token_type"] = types
    return ("token_type", *steps), words


def _grace_without_age(random, content, model):
    connections = content.setdefault("server", {}).setdefault("connections", {})
    connections.pop("max_age", None)
    connections["max_age_grace"] = 5
    return ("server", "connections", "max_age_grace"), "needs max_age"


def _bad_address(random, content, model):
    address = random.choice(_BAD_ADDRESSES)
    content.setdefault("server", {})["listen"] = Quoted(address)
    words = "the path of a unix: address" if address == "unix:" else "must be HOST:PORT, [IPV6]:PORT or unix:PATH"
    return ("server", "listen"), words, f'got "{address}"'


def _bad_prefix(random, content, model):
    prefix = random.choice(("/", "a/b", "/a/../b", "/./a", "/a//b"))
    content.setdefault("server", {})["shared_memory"] = {"prefix": prefix}
    return ("server", "shared_memory", "prefix"), "must be an absolute path other than /", f'got "{prefix}"'


def _larger_than_memory_can_be(random, content, model):
    model["token"] = {"seeded": {"vocab_size": 2**61, "embedding_dim": 16}}
    most = (2**63 - 1) // 4 // 16
    return ("token", "seeded", "vocab_size"), f"must be at most {most} with embedding_dim 16, got {2**61}"


_RULES = (
    *(_name_twice, _bad_name, _bad_version, _two_token_sources, _two_positions, _nothing_to_number),
    *(_padding_without_id, _mask_without_offset, _grows_to_less, _no_row_left, _width_of_layout, _widths_of_heads),
    *(_odd_tokens_turned, _two_types_of_scaling, _nothing_to_round, _id_outside, _scale_and_dropout, _side_of_nothing),
    *(_path_and_tokens, _half_a_layout, _sources_of_types, _grace_without_age, _bad_address, _bad_prefix),
    _larger_than_memory_can_be,
)
