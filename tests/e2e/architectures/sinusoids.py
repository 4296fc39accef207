"""Position tables that families compute: in float64, rounded to float32 once."""

import numpy as np


def marian_table(rows, dim):
    """Marian, Pegasus: sines of 10000^(-2i/D), then their cosines; an odd column is a sine."""
    angles = np.array([[p / np.power(10000, 2 * (j // 2) / dim) for j in range(dim)] for p in range(rows)])
    table = np.empty((rows, dim), np.float32)
    sines = (dim + 1) // 2
    table[:, :sines] = np.sin(angles[:, 0::2])
    table[:, sines:] = np.cos(angles[:, 1::2])
    return table


def tensor2tensor_table(rows, dim, pad=None):
    """M2M100, XGLM, Pegasus-X: sines of 10000^(-i/(half - 1)), then cosines; an odd column and row `pad` are zero."""
    half = dim // 2
    angles = np.arange(rows)[:, None] * np.exp(np.arange(half) * -(np.log(10000.0) / (half - 1)))
    table = np.zeros((rows, dim), np.float32)
    table[:, :half] = np.sin(angles)
    table[:, half : 2 * half] = np.cos(angles)
    if pad is not None:
        table[pad] = 0
    return table
