"""Prints tests/golden/rotary.txt: rotary frequencies and turned vectors of every kind of scaling, in both pairings.

Written from the published formulas (RoFormer, position interpolation, NTK-aware scaling, YaRN, LongRoPE, Llama 3.1) in
extended precision, so that the printed doubles are correctly rounded but for rare ties. One line a case:

    NAME PAIRING HEAD_DIM ROTARY_DIM THETA SCALING_LENGTH POSITION FIELDS (KEY VALUE)... PAIRS INV_FREQ... ATTENTION Y...

FIELDS and PAIRS are counts. Y is the vector x, x[i] = ((37 i) mod 64 - 32) / 16, turned at POSITION.
"""

import numpy as np

LD = np.longdouble
PI = LD("3.141592653589793238462643383279502884")


def default(dim, theta):
    return LD(theta) ** (-np.arange(0, dim, 2, dtype=LD) / LD(dim))


def linear(dim, theta, _, f):
    return default(dim, theta) / LD(f["factor"]), LD(1)


def ntk(dim, theta, _, f):
    return default(dim, LD(theta) * LD(f["factor"]) ** (LD(dim) / LD(dim - 2))), LD(1)


def dynamic(dim, theta, length, f):
    trained = LD(f["max_position_embeddings"])
    stretch = LD(f["factor"]) * max(LD(length), trained) / trained - (LD(f["factor"]) - 1)
    return default(dim, LD(theta) * stretch ** (LD(dim) / LD(dim - 2))), LD(1)


def magnitude(factor, mscale=1.0):
    return LD(1) if factor <= 1 else LD("0.1") * LD(mscale) * np.log(LD(factor)) + 1


def yarn(dim, theta, _, f):
    original = LD(f.get("original_max_position_embeddings", f.get("max_position_embeddings")))
    factor = LD(f["factor"]) if "factor" in f else LD(f["max_position_embeddings"]) / original

    def pair(turns):
        return LD(dim) * np.log(original / (LD(turns) * 2 * PI)) / (2 * np.log(LD(theta)))

    low, high = pair(f.get("beta_fast", 32)), pair(f.get("beta_slow", 1))
    if f.get("truncate", 1):
        low, high = np.floor(low), np.ceil(high)
    low, high = max(low, LD(0)), min(high, LD(dim - 1))
    if low == high:
        high += LD("0.001")
    ramp = np.clip((np.arange(dim // 2, dtype=LD) - low) / (high - low), 0, 1)
    inv_freq = default(dim, theta)
    if "attention_factor" in f:
        attention = LD(f["attention_factor"])
    elif f.get("mscale") and f.get("mscale_all_dim"):
        attention = magnitude(factor, f["mscale"]) / magnitude(factor, f["mscale_all_dim"])
    else:
        attention = magnitude(factor)
    return inv_freq / factor * ramp + inv_freq * (1 - ramp), attention


def longrope(dim, theta, length, f):
    original = LD(f.get("original_max_position_embeddings", f.get("max_position_embeddings")))
    both = "original_max_position_embeddings" in f and "max_position_embeddings" in f
    factor = LD(f["max_position_embeddings"]) / original if both else LD(f.get("factor", 1))
    divisors = f["long_factor"] if length > original else f["short_factor"]
    if "attention_factor" in f:
        attention = LD(f["attention_factor"])
    else:
        attention = LD(1) if factor <= 1 else np.sqrt(1 + np.log(factor) / np.log(original))
    return default(dim, theta) / np.array(divisors, dtype=LD), attention


def llama3(dim, theta, _, f):
    inv_freq = default(dim, theta)
    original, factor = LD(f["original_max_position_embeddings"]), LD(f["factor"])
    low, high = LD(f["low_freq_factor"]), LD(f["high_freq_factor"])
    wavelength = 2 * PI / inv_freq
    smooth = (original / wavelength - low) / (high - low)
    blended = (1 - smooth) * inv_freq / factor + smooth * inv_freq
    result = np.where(wavelength > original / low, inv_freq / factor, blended)
    return np.where(wavelength < original / high, inv_freq, result), LD(1)


def proportional(head_dim, rotary_dim, theta, f):
    turned = LD(theta) ** (-np.arange(0, rotary_dim, 2, dtype=LD) / LD(head_dim)) / LD(f.get("factor", 1))
    return np.concatenate([turned, np.zeros(head_dim // 2 - len(turned), dtype=LD)]), LD(1)


def turn(x, pairing, paired, inv_freq, attention, position):
    half = paired // 2
    cos, sin = np.cos(LD(position) * inv_freq) * attention, np.sin(LD(position) * inv_freq) * attention
    y = x.copy()
    first, second = (slice(0, half), slice(half, paired)) if pairing == "half" else (slice(0, paired, 2), slice(1, paired, 2))
    y[first] = x[first] * cos - x[second] * sin
    y[second] = x[second] * cos + x[first] * sin
    return y


SHORT, LONG = [1.0, 1.25, 1.5, 2.0], [1.5, 3.0, 9.0, 27.5]
SMALL_YARN = {"factor": 4.0, "original_max_position_embeddings": 256}
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
PHI3 = {"original_max_position_embeddings": 16, "max_position_embeddings": 64, "short_factor": SHORT, "long_factor": LONG}

# type, head_dim, rotary_dim, theta, scaling_length, position, fields
CASES = [
    ("default", 8, 8, 10000.0, 1, 3, {}),
    ("default", 10, 4, 500000.0, 1, 12345, {}),
    ("default", 64, 64, 10000.0, 1, 16777215, {}),
    ("linear", 8, 8, 10000.0, 1, 9, {"factor": 4.0}),
    ("ntk", 8, 8, 10000.0, 1, 9, {"factor": 4.0}),
    ("dynamic", 8, 8, 10000.0, 10, 9, {"factor": 2.0, "max_position_embeddings": 16}),
    ("dynamic", 8, 8, 10000.0, 40, 39, {"factor": 2.0, "max_position_embeddings": 16}),
    ("dynamic", 12, 8, 10000.0, 40, 39, {"factor": 1.0, "max_position_embeddings": 16}),
    ("yarn", 32, 32, 10000.0, 1, 100, SMALL_YARN),
    ("yarn", 32, 32, 10000.0, 1, 100, {**SMALL_YARN, "truncate": 0}),
    ("yarn", 32, 32, 10000.0, 1, 100, {**SMALL_YARN, "attention_factor": 1.5}),
    ("yarn", 32, 32, 10000.0, 1, 100, {**SMALL_YARN, "mscale": 1.0, "mscale_all_dim": 0.707}),
    ("yarn", 32, 32, 10000.0, 1, 100, {**SMALL_YARN, "beta_fast": 16.0, "beta_slow": 2.0}),
    ("yarn", 48, 32, 10000.0, 1, 100, {"max_position_embeddings": 1024, "original_max_position_embeddings": 256}),
    ("yarn", 8, 8, 10000.0, 1, 5, {"factor": 0.5, "max_position_embeddings": 4}),
    ("longrope", 8, 8, 10000.0, 16, 15, PHI3),
    ("longrope", 8, 8, 10000.0, 17, 16, PHI3),
    ("su", 8, 8, 10000.0, 17, 16, {**PHI3, "attention_factor": 1.25}),
    ("longrope", 8, 8, 10000.0, 17, 16, {**PHI3, "max_position_embeddings": 16}),
    ("longrope", 8, 8, 10000.0, 65, 64, {"factor": 2.0, "max_position_embeddings": 64, "short_factor": SHORT, "long_factor": LONG}),
    ("llama3", 32, 32, 500000.0, 1, 100, LLAMA3),
    ("llama3", 40, 32, 500000.0, 1, 100, LLAMA3),
    ("proportional", 8, 2, 1e6, 1, 7, {}),
    ("proportional", 16, 8, 1e6, 1, 7, {"factor": 2.0}),
]

FORMULAS = {"default": lambda dim, theta, _, f: (default(dim, theta), LD(1)), "linear": linear, "ntk": ntk, "dynamic": dynamic,
            "yarn": yarn, "longrope": longrope, "su": longrope, "llama3": llama3}


def words(fields):
    for key, value in fields.items():
        for item in value if isinstance(value, list) else [value]:
            yield key
            yield repr(item)


def text(values):
    return [repr(float(value)) for value in values]


for kind, head_dim, rotary_dim, theta, length, position, fields in CASES:
    if kind == "proportional":
        paired, (inv_freq, attention) = head_dim, proportional(head_dim, rotary_dim, theta, fields)
    else:
        paired, (inv_freq, attention) = rotary_dim, FORMULAS[kind](rotary_dim, theta, length, fields)
    x = np.array([((37 * i) % 64 - 32) / 16 for i in range(head_dim)], dtype=LD)
    pairs = list(words(fields))
    for pairing in ("half", "interleaved"):
        y = turn(x, pairing, paired, inv_freq, attention, position)
        print(kind, pairing, head_dim, rotary_dim, theta, length, position, len(pairs) // 2, *pairs, len(inv_freq),
              *text(inv_freq), *text([attention]), *text(y))
