"""Valid configurations with one value broken, by the row of its key in docs/configuration.md, and what must be said."""

import copy
import dataclasses

from random_configs import reference
from random_configs.writing import Plain, Quoted, path_of

_LIST, _MAP = ["a"], {"a": 1}
_NO_NUMBERS = (Plain("x"), Plain("0x10"), Plain("1_000"), Plain(".inf"), Plain("true"), Quoted("5"), _LIST, _MAP)
_NO_WORDS = (_LIST, _MAP, Quoted(""))
_NO_SIZES = (Plain("x"), Plain("64mib"), Plain("1.5MiB"), Plain("64Mi"), Plain("-1"), Plain("1e3"), _LIST, _MAP)
_NO_TIMES = (Plain("x"), Plain("5d"), Plain("-1"), Plain("1s2"), Plain("1 s"), Plain("inf"), _LIST, _MAP)
_NO_TRUTH = (Plain("yes"), Plain("True"), 1, 0, Quoted("true"), _LIST, _MAP)
# By type in the table: what is none of it, and the words that the message must have.
_WRONG = {
    "map": ((Plain("x"), 5, _LIST, Quoted("")), ("must be a map",)),
    "empty map": ((Plain("x"), 5, _LIST), ("must be a map",)),
    "integer": ((Plain("1.5"), *_NO_NUMBERS), ("must be an integer",)),
    "number": (_NO_NUMBERS, ("must be a", "number")),
    "byte size": (_NO_SIZES, ("must be a byte size from 1 to", "KiB, MiB, GiB, KB, MB, GB")),
    "duration": (_NO_TIMES, ("must be a duration from", "500ms, 30s, 2m or 1h")),
    "boolean": (_NO_TRUTH, ("must be true or false",)),
    "bool": (_NO_TRUTH, ("must be true or false",)),
    "`true` or `false`": (_NO_TRUTH, ("must be true or false",)),
    "path": (_NO_WORDS, ("must be a string",)),
    "string": (_NO_WORDS, ("must be ",)),
    "list of maps": ((Plain("x"), 5, _MAP), ("must be a list of models",)),
    "list of numbers": ((Plain("x"), 5, _MAP), ("must be a list of numbers",)),
    "list of two integers": (
        (Plain("x"), 5, _MAP, [1], [1, 2, 3], [0, 4], [Quoted("3"), 4]),
        ("must be a list of two integers >= 1",),
    ),
    "map of maps, by name": ((Plain("x"), 5, _LIST), ("must be a map of maps by name",)),
    "number, or `sqrt_dim`": (_NO_NUMBERS[:3] + (0, 1e-39, 1e39), ("must be ",)),
    "`none`, or number": (_NO_NUMBERS + (0, -1), ("must be none or a finite number > 0",)),
    "`none`, or a map": ((Plain("x"), 5, _LIST), ("must be none, or a map of",)),
    "`error`, `zero`, or a map": ((Plain("x"), 5, _LIST), ("must be error, zero, or a map of unk",)),
    "address, or list of addresses": ((Plain("8001"), Plain("x"), [], _MAP, ["127.0.0.1:65536"]), ("must be ",)),
}
_WRONG[reference.KEYS["models[].position"].type] = _WRONG["`none`, or a map"]
# Keys without which their map means nothing, where no other key of it stands in.
_NEEDED = {
    "models[]": ("name", "token"),
    "models[].token.seeded": ("vocab_size", "embedding_dim"),
    "models[].token.out_of_range": ("unk",),
    "models[].token_type.seeded": ("type_vocab_size",),
    "models[].position.learned.seeded": ("max_context_length",),
    "models[].position.sinusoidal": ("max_context_length",),
    "models[].layer_norm": ("weight",),
    "models[].layer_norm.weight": ("file",),
    "models[].layer_norm.bias": ("file",),
    "models[].output.bias": ("file",),
    "server.tls": ("certificate", "key"),
    "server.shared_memory": ("prefix",),
}


class NothingToBreak(Exception):
    """The configuration has no place for that kind of breaking."""


@dataclasses.dataclass
class Broken:
    """A configuration with one thing wrong, where, and what the message must say besides the place."""

    content: dict
    steps: tuple  # to the place that the message names
    says: tuple
    of_key: bool = False  # the line is that of the key rather than of its value
    line_steps: tuple = None  # where the line is that of another place


def places(content, steps=()):
    """All keys and items of a configuration, as paths of steps, with their values."""
    entries = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for step, value in entries:
        yield (*steps, step), value
        yield from places(value, (*steps, step))


def at(content, steps):
    for step in steps:
        content = content[step]
    return content


def changed(content, steps, value):
    """A copy with another value at a place."""
    copied = copy.deepcopy(content)
    at(copied, steps[:-1])[steps[-1]] = copy.deepcopy(value)
    return copied


def found(value):
    """How a message says what it found, or how it begins to."""
    if value is None:
        return "got nothing"
    if isinstance(value, (list, dict)):
        return "got a"  # list, map, empty list, ...
    if isinstance(value, float):
        return 'got "'
    return f'got "{value}" in quotes' if isinstance(value, Quoted) else f'got "{value}"'


def broken(random, kind, draw_content):
    """The first configuration that is drawn and can be broken in that way."""
    while True:
        try:
            return kind(random, draw_content())
        except NothingToBreak:
            continue


def break_type(random, content):
    """A value that is none of its key's type, or nothing at all."""
    steps, key = _pick(random, content, lambda key, _: key.type in _WRONG)
    wrong, words = _WRONG[key.type]
    value = random.choice((*wrong, None))
    content = changed(content, steps, value)
    if key.type == "address, or list of addresses" and isinstance(value, list) and value:
        return Broken(content, (*steps, 0), ("must be ", "HOST:PORT", f'got "{value[0]}"'))
    return Broken(content, steps, (*words, found(value)))


def break_word(random, content):
    """A word that the key does not know; the message lists those that it knows."""
    steps, key = _pick(random, content, lambda key, value: key.words)
    value = random.choice(("x", "None", key.words[0].swapcase() + "x", "é" * 3))
    return Broken(changed(content, steps, value), steps, (*key.words, f'"{value}"'))


def break_bound(random, content):
    """A number just outside of what is allowed; the message names the bound."""
    steps, key = _pick(random, content, lambda key, _: key.bounds != (None, None, True))
    low, high, including = key.bounds
    step = 0.001 if key.type == "number" else 1

    def outside(bound, sign):
        return bound + sign * step if abs(bound) < 1e19 else bound * 1.01

    sides = [(outside(low, -1) if including else low, low)] if low is not None else []
    sides += [(outside(high, 1), high)] if high is not None else []
    value, bound = random.choice(sides)
    if key.type != "number":
        value, bound = (value if key.type == "duration" else int(value)), int(bound)
    told = f"{abs(bound):g}" if key.type == "number" else str(bound)
    return Broken(changed(content, steps, value), steps, ("must be ", told))


def unknown_key(random, content):
    """A key that its map has not; the message lists those that it has."""
    maps = [(steps, value) for steps, value in places(content) if isinstance(value, dict) and _has_known_keys(steps)]
    steps, _ = random.choice([((), content), *maps])
    allowed = reference.allowed_in(path_of(steps))
    near = random.choice(sorted(allowed) or ["x"])
    key = random.choice((near + "s", near[1:] or "y", "comment", near.upper() + "é"))
    while key in allowed:
        key += "x"
    copied = copy.deepcopy(content)
    at(copied, steps)[key] = 1
    says = (f'unknown key "{key}"', "allowed: " if allowed else "no key is allowed here", *sorted(allowed))
    return Broken(copied, steps, says, of_key=True, line_steps=(*steps, key))


def _has_known_keys(steps):
    return reference.key_at(path_of(steps)) is None or reference.key_at(path_of(steps)).type != "map of maps, by name"


def missing_key(random, content):
    """A map without a key that it needs."""
    maps = [(steps, value) for steps, value in places(content) if isinstance(value, dict)]
    needed = [(steps, value, _NEEDED.get(reference.row_of(path_of(steps)), ())) for steps, value in maps]
    picked = [(steps, key) for steps, value, keys in needed for key in keys if key in value]
    if not picked:
        raise NothingToBreak
    steps, key = random.choice(picked)
    copied = copy.deepcopy(content)
    del at(copied, steps)[key]
    if not at(copied, steps):
        at(copied, steps)["x"] = 1  # an empty map has no line of its own in block style
        return Broken(copied, steps, ('unknown key "x"',), of_key=True, line_steps=(*steps, "x"))
    return Broken(copied, steps, (key, "is missing"))


class _Twice(str):
    """A key that looks like another one and is none."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return self is other


def repeated_key(random, content):
    """A key that stands in its map twice."""
    maps = [((), content), *places(content)]
    maps = [entry for entry in maps if isinstance(entry[1], dict) and entry[1] and _has_known_keys(entry[0])]
    if not maps:
        raise NothingToBreak
    steps, value = random.choice(maps)
    key = random.choice(list(value))
    copied = copy.deepcopy(content)
    at(copied, steps)[_Twice(key)] = copy.deepcopy(value[key])
    return Broken(copied, (*steps, key), ("given twice, first on line ",), of_key=True)


def _pick(random, content, fits):
    """One of the places whose row of the table fits."""
    keys = ((steps, reference.key_at(path_of(steps)), value) for steps, value in places(content))
    fitting = [(steps, key) for steps, key, value in keys if key is not None and fits(key, value)]
    if not fitting:
        raise NothingToBreak
    return random.choice(fitting)
