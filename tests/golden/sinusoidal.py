#!/usr/bin/python3
"""Prints golden rows of sinusoidal tables: python3 tests/golden/sinusoidal.py > tests/golden/sinusoidal.txt

Computed with numpy in extended precision where the machine has it, so that the double values are correctly rounded but
for rare ties. One line a row: DIM BASE ROW VALUE…, the values as doubles before rounding to float32.
"""

import numpy as np

ROWS = [(8, 10000, 0), (8, 10000, 1), (8, 10000, 3), (64, 10000, 127), (512, 10000, 100), (6, 500, 4095), (2, 10000, 5)]


def row(dim, base, position):
    exponents = np.arange(0, dim, 2, dtype=np.longdouble) / dim
    angles = position / np.power(np.longdouble(base), exponents)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(-1).astype(np.float64)


for dim, base, position in ROWS:
    print(dim, base, position, *(repr(float(value)) for value in row(dim, base, position)))
