"""The folders that clients of the Open Inference Protocol are tried with, and what is right for them."""

import numpy as np

from architectures import decoders, encoders
from support.arrays import round_to_bfloat16

# Half a unit in the last place of the row's largest value, and what float64 loses on the way there.
_HALF = 0.5 + 1e-6
_ROUNDED = {
    "FP16": lambda values: values.astype(np.float32).astype(np.float16).astype(np.float32),
    "BF16": lambda values: round_to_bfloat16(values.astype(np.float32)),
}


def folders():
    """A BERT, with token types and LayerNorm, and a GPT-2, whose sums have one right answer."""
    named = {each.name: each for family in (encoders, decoders) for each in family.checkpoints()}
    return named["bert-base-uncased"], named["gpt2"]


def half_ulp_range(expected):
    """The least and the largest right values; one and the same where there is no LayerNorm."""
    slack = expected.ulp * (_HALF if expected.allowed else 0)
    return expected.values - slack, expected.values + slack


def allowed_range(expected, datatype):
    """The same in a narrow datatype, as float32."""
    return tuple(map(_ROUNDED[datatype], half_ulp_range(expected)))
