"""Why parameters of a rotary encoding are impossible, by the comments of rotary.proto. See refusal_of_rotations.py."""

import math

_TYPES = ("default", "linear", "ntk", "dynamic", "yarn", "longrope", "su", "llama3", "proportional")
_LENGTHS = ("original_max_position_embeddings", "max_position_embeddings")
# By type: the fields that it needs, those that must be above 0, and those that must be at least 0.
_NEEDS = {
    "linear": ("factor",),
    "ntk": ("factor",),
    "dynamic": ("factor", "max_position_embeddings"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
    "longrope": ("short_factor", "long_factor"),
}
_ABOVE_ZERO = {
    "llama3": ("factor", "low_freq_factor"),
    "yarn": ("factor", "attention_factor"),
    "longrope": ("factor", "attention_factor"),
}
_COUNTS = {
    "dynamic": ("max_position_embeddings",),
    "llama3": ("original_max_position_embeddings",),
    "yarn": _LENGTHS,
    "longrope": _LENGTHS,
}


def add(rotation, faults):
    """Adds the faults of a rotation whose head_dim is known."""
    if rotation.kind and rotation.kind not in _TYPES:
        faults.option("scaling.type", f'scaling.type "{rotation.kind}" is unknown; there are {", ".join(_TYPES)}')
        return
    _widths(rotation, faults)
    kind = "longrope" if rotation.kind == "su" else rotation.kind
    if kind not in ("", "default"):
        _fields(rotation, kind, faults)
        _rules_of_type(rotation, kind, faults)


def _widths(rotation, faults):
    head, turned = rotation.head_dim, rotation.rotary_dim
    if not 2 <= head <= 2**20:
        faults.option("head_dim", f"head_dim must be from 2 to 1048576, got {head}")
    if not 0 <= turned <= head:
        faults.option("rotary_dim", f"rotary_dim must be from 2 to head_dim = {head}, got {turned}")
    if turned % 2 != 0:
        faults.option("rotary_dim", f"rotary_dim must be even, got {turned}")
    elif rotation.paired == head and head % 2 != 0:
        faults.option("odd head_dim", f"head_dim must be even where all of it is turned, got {head}")
    if not (math.isfinite(rotation.theta) and rotation.theta > 0):
        faults.option("theta", f"theta must be finite and > 0, got {rotation.theta:g}")


def _fields(rotation, kind, faults):
    given = rotation.scaling

    def must(field, words):
        text = f"scaling.{field} (type {rotation.kind}) must be {words}, got {given[field]:g}"
        faults.option(f"scaling.{field}", text)

    for field in _NEEDS.get(kind, ()):
        if field not in given:
            faults.option(f"scaling needs {field}", f"scaling of type {rotation.kind} needs {field}")
    for field in _ABOVE_ZERO.get(kind, ("factor",)):
        if field in given and not (math.isfinite(given[field]) and given[field] > 0):
            must(field, "finite and > 0")
    for field in ("beta_fast", "beta_slow", "mscale", "mscale_all_dim") if kind == "yarn" else ():
        if field in given and not (math.isfinite(given[field]) and given[field] >= 0):
            must(field, "finite and >= 0")
    for field in _COUNTS.get(kind, ()):
        if field in given and given[field] < 1:
            text = f"scaling.{field} (type {rotation.kind}) must be >= 1, got {given[field]}"
            faults.option(f"scaling.{field}", text)


def _rules_of_type(rotation, kind, faults):
    given, named = rotation.scaling, rotation.kind
    if kind in ("ntk", "dynamic") and rotation.paired <= 2:
        text = f"scaling of type {named} divides by rotary_dim - 2 and needs rotary_dim > 2, got {rotation.paired}"
        faults.option("exponent", text)
    if kind == "yarn" and rotation.theta == 1:
        text = "scaling of type yarn divides by the logarithm of theta; theta must not be 1"
        faults.option("logarithm", text)
    if kind in ("yarn", "longrope"):
        lengths = [field for field in _LENGTHS if field in given]
        told = kind == "longrope" and "attention_factor" in given
        if not lengths:
            text = f"scaling of type {named} needs {_LENGTHS[0]}, or {_LENGTHS[1]} in its place"
            faults.option("scaling needs lengths", text)
        elif "factor" not in given and len(lengths) < 2 and not told:
            text = f"scaling of type {named} needs factor, or both {' and '.join(_LENGTHS)}"
            faults.option("scaling needs factor", text)
    if kind == "longrope":
        for field in ("short_factor", "long_factor"):
            _divisors(rotation, field, faults)
    low, high = given.get("low_freq_factor"), given.get("high_freq_factor")
    if kind == "llama3" and low is not None and high is not None:
        if not (math.isfinite(high) and high > 0):
            text = f"scaling.high_freq_factor (type llama3) must be finite and > 0, got {high:g}"
            faults.option("scaling.high_freq_factor", text)
        elif not high > low:
            text = f"scaling.high_freq_factor (type llama3) must be greater than low_freq_factor {low:g}, got {high:g}"
            faults.option("scaling.high_freq_factor", text)


def _divisors(rotation, field, faults):
    divisors, pairs = rotation.scaling.get(field), rotation.paired // 2
    if divisors is None:
        return
    if len(divisors) != pairs:
        needed = f"rotary_dim / 2 = {pairs} are needed"
        text = f"scaling.{field} (type {rotation.kind}) has {len(divisors)} values, but {needed}"
        faults.option(f"scaling.{field}", text)
        return
    for i, divisor in enumerate(divisors):
        if not (math.isfinite(divisor) and divisor > 0):
            text = f"scaling.{field}[{i}] (type {rotation.kind}) must be finite and > 0, got {divisor:g}"
            faults.option(f"scaling.{field}", text)
            return
