"""Frequencies and attention factors by the formulas of rotary.proto, in double."""

import dataclasses
import math


@dataclasses.dataclass
class Rotation:
    """Parameters in the words of rotary.proto; `scaling` holds the fields that are given."""

    head_dim: int
    rotary_dim: int  # 0: all
    theta: float
    kind: str
    scaling: dict
    interleaved: bool

    @property
    def paired(self):
        """How many components stand in pairs."""
        return self.head_dim if self.kind == "proportional" or self.rotary_dim == 0 else self.rotary_dim

    def frequencies(self, length):
        """Frequency of each pair, and the attention factor, for a sequence of that length."""
        return _FORMULAS[self.kind](self, self.scaling, length)

    def powers(self, theta=None, dim=None):
        """theta^(-2i/d)."""
        dim = dim or self.paired
        return [(theta or self.theta) ** (-2.0 * i / dim) for i in range(dim // 2)]


def _linear(r, s, _):
    return [f / s["factor"] for f in r.powers()], 1.0


def _ntk(r, s, _):
    return r.powers(r.theta * s["factor"] ** (r.paired / (r.paired - 2))), 1.0


def _dynamic(r, s, length):
    longest = s["max_position_embeddings"]
    stretch = s["factor"] * max(length, longest) / longest - (s["factor"] - 1)
    return r.powers(r.theta * stretch ** (r.paired / (r.paired - 2))), 1.0


def _original(s):
    return s.get("original_max_position_embeddings", s.get("max_position_embeddings"))


def _yarn(r, s, _):
    original = _original(s)
    factor = s.get("factor") or s["max_position_embeddings"] / original

    def pair(turns):
        return r.paired * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(r.theta))

    low, high = pair(s.get("beta_fast") or 32), pair(s.get("beta_slow") or 1)
    if s.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, r.paired - 1)
    high += 0.001 if low == high else 0
    ramp = [min(max((i - low) / (high - low), 0), 1) for i in range(r.paired // 2)]
    blended = [f / factor * part + f * (1 - part) for f, part in zip(r.powers(), ramp)]
    return blended, _yarn_attention(s, factor)


def _yarn_attention(s, factor):
    def magnitude(mscale):
        return 1.0 if factor <= 1 else 0.1 * mscale * math.log(factor) + 1.0

    if "attention_factor" in s:
        return s["attention_factor"]
    if s.get("mscale") and s.get("mscale_all_dim"):
        return magnitude(s["mscale"]) / magnitude(s["mscale_all_dim"])
    return magnitude(1.0)


def _longrope(r, s, length):
    original = _original(s)
    divisors = s["long_factor"] if length > original else s["short_factor"]
    frequencies = [f / divisor for f, divisor in zip(r.powers(), divisors)]
    if "attention_factor" in s:
        return frequencies, s["attention_factor"]
    both = "max_position_embeddings" in s and "original_max_position_embeddings" in s
    factor = s["max_position_embeddings"] / original if both else s["factor"]
    return frequencies, 1.0 if factor <= 1 else math.sqrt(1 + math.log(factor) / math.log(original))


def _llama3(r, s, _):
    def scaled(frequency):
        turns = _original(s) * frequency / (2 * math.pi)
        kept = (turns - s["low_freq_factor"]) / (s["high_freq_factor"] - s["low_freq_factor"])
        kept = min(max(kept, 0), 1)
        return (1 - kept) * frequency / s["factor"] + kept * frequency

    return [scaled(frequency) for frequency in r.powers()], 1.0


def _proportional(r, s, _):
    turned = (r.rotary_dim or r.head_dim) // 2
    frequencies = [f / s.get("factor", 1.0) for f in r.powers(dim=r.head_dim)]
    return [f if i < turned else 0.0 for i, f in enumerate(frequencies)], 1.0


_FORMULAS = {
    "": lambda r, *_: (r.powers(), 1.0),
    "default": lambda r, *_: (r.powers(), 1.0),
    "linear": _linear,
    "ntk": _ntk,
    "dynamic": _dynamic,
    "yarn": _yarn,
    "longrope": _longrope,
    "su": _longrope,
    "llama3": _llama3,
    "proportional": _proportional,
}

KINDS = tuple(_FORMULAS)
