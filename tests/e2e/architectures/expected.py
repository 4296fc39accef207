"""A request as numpy sees it, and right answers with how far another may lie from them."""

import dataclasses

import numpy as np

F32 = np.float32
LAYER_NORM_ULP = 4


@dataclasses.dataclass
class Batch:
    """One request: (B, T) ids or (B, T, D) embeds, and what else a caller may say. Offsets are a past length a row."""

    ids: np.ndarray = None
    embeds: np.ndarray = None
    offsets: np.ndarray = None
    position_ids: np.ndarray = None
    mask: np.ndarray = None
    types: np.ndarray = None

    @property
    def shape(self):
        return self.ids.shape if self.ids is not None else self.embeds.shape[:2]

    @property
    def past(self):
        return np.zeros(self.shape[0], np.int64) if self.offsets is None else np.asarray(self.offsets, np.int64)


@dataclasses.dataclass
class Expected:
    """Values, the size of one ulp for each, and how many ulp a right answer may be away."""

    values: np.ndarray
    ulp: np.ndarray
    allowed: float


def exact(values):
    """The one right answer of float32 sums."""
    return Expected(values, np.spacing(np.abs(values)), 0)


@dataclasses.dataclass
class Norm:
    """Layer normalisation: biased variance, eps inside the root."""

    weight: np.ndarray
    bias: np.ndarray
    eps: float

    def __call__(self, x):
        x = x.astype(np.float64)
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred * centred).mean(axis=-1, keepdims=True)
        y = centred / np.sqrt(variance + self.eps) * self.weight.astype(np.float64)
        return y if self.bias is None else y + self.bias.astype(np.float64)


def normalised(x, norm):
    """LayerNorm of a float32 sum; x itself where the model has none."""
    if norm is None:
        return exact(x)
    y = norm(x)
    largest = np.abs(y).max(axis=-1, keepdims=True).astype(F32)
    return Expected(y, np.broadcast_to(np.spacing(largest), y.shape), LAYER_NORM_ULP)


def masked_to_zero(expected, mask):
    """Masked cells become zero, unmasked ones keep their value."""
    return dataclasses.replace(expected, values=np.where(mask[..., None] != 0, expected.values, 0))
