"""Rotary encoding of the published families: its parameters, and cosines and sines in float64."""

import dataclasses
import math

import numpy as np

HALF, INTERLEAVED = "ROTARY_PAIRING_HALF", "ROTARY_PAIRING_INTERLEAVED"


@dataclasses.dataclass
class Rotation:
    """What a model's queries and keys are turned by. `scaling` has the keys of rope_scaling, and `type`."""

    head_dim: int
    rotary_dim: int
    theta: float = 10000.0
    pairing: str = HALF
    scaling: dict = dataclasses.field(default_factory=lambda: {"type": "default"})

    def frequencies(self, length):
        """Inverse frequencies and the attention factor of a sequence of `length` positions."""
        return _KINDS[self.scaling["type"]](self, length)

    def table(self, first, length, scaling_length=None):
        """(cos, sin), each (length, rotary_dim / 2), with the attention factor in them; and that factor."""
        frequencies, factor = self.frequencies(first + length if scaling_length is None else scaling_length)
        angles = np.arange(first, first + length)[:, None] * frequencies
        return np.cos(angles) * factor, np.sin(angles) * factor, factor


def _inverse(theta, dim):
    return theta ** -(np.arange(0, dim, 2) / dim)


def _default(rotation, _):
    return _inverse(rotation.theta, rotation.rotary_dim), 1.0


def _linear(rotation, _):
    return _inverse(rotation.theta, rotation.rotary_dim) / rotation.scaling["factor"], 1.0


def _dynamic(rotation, length):
    dim, factor = rotation.rotary_dim, rotation.scaling["factor"]
    longest = rotation.scaling["max_position_embeddings"]
    stretch = factor * max(length, longest) / longest - (factor - 1)
    return _inverse(rotation.theta * stretch ** (dim / (dim - 2)), dim), 1.0


def _magnitude(factor, mscale=1.0):
    return 1.0 if factor <= 1 else 0.1 * mscale * math.log(factor) + 1.0


def _yarn(rotation, _):
    scaling, dim, theta = rotation.scaling, rotation.rotary_dim, rotation.theta
    factor, original = scaling["factor"], scaling["original_max_position_embeddings"]

    def dimension(turns):
        return dim * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(theta))

    low, high = dimension(scaling.get("beta_fast", 32)), dimension(scaling.get("beta_slow", 1))
    if scaling.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    high += 0.001 if low == high else 0
    ramp = np.clip((np.arange(dim // 2) - low) / (high - low), 0, 1)
    plain = _inverse(theta, dim)
    attention = scaling.get("attention_factor")
    if attention is None:
        both = scaling.get("mscale") and scaling.get("mscale_all_dim")
        attention = _magnitude(factor, scaling["mscale"]) if both else _magnitude(factor)
        attention /= _magnitude(factor, scaling["mscale_all_dim"]) if both else 1.0
    return plain / factor * ramp + plain * (1 - ramp), attention


def _longrope(rotation, length):
    scaling = rotation.scaling
    original = scaling["original_max_position_embeddings"]
    factor = scaling.get("factor") or scaling["max_position_embeddings"] / original
    divisors = scaling["long_factor" if length > original else "short_factor"]
    attention = scaling.get("attention_factor")
    if attention is None:
        attention = 1.0 if factor <= 1 else math.sqrt(1 + math.log(factor) / math.log(original))
    return _inverse(rotation.theta, rotation.rotary_dim) / np.array(divisors), attention


def _llama3(rotation, _):
    scaling = rotation.scaling
    factor, original = scaling["factor"], scaling["original_max_position_embeddings"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    frequencies = []
    for frequency in _inverse(rotation.theta, rotation.rotary_dim):
        wavelength = 2 * math.pi / frequency
        if wavelength < original / high:
            frequencies.append(frequency)
        elif wavelength > original / low:
            frequencies.append(frequency / factor)
        else:
            smooth = (original / wavelength - low) / (high - low)
            frequencies.append((1 - smooth) * frequency / factor + smooth * frequency)
    return np.array(frequencies), 1.0


_KINDS = {
    "default": _default,
    "linear": _linear,
    "dynamic": _dynamic,
    "yarn": _yarn,
    "longrope": _longrope,
    "llama3": _llama3,
}
