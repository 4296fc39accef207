"""Prints what tests/unit/core/shift_property_test.cc compares the best linear map with: residuals of numpy's lstsq.

Column d < dim of row p holds ((7 p^2 + 31 p d + 3 d^2 + 5 (p + d)^3) mod 101) / 64. `dependent` adds two columns: column
0 + 2 * column 1, and zeros.
"""

import numpy


def table(rows, dim, dependent):
    p, d = numpy.arange(rows)[:, None], numpy.arange(dim)[None, :]
    values = ((7 * p**2 + 31 * p * d + 3 * d**2 + 5 * (p + d) ** 3) % 101) / 64
    if dependent:
        values = numpy.hstack([values, values[:, :1] + 2 * values[:, 1:2], numpy.zeros((rows, 1))])
    return values


for rows, dim, dependent, offset in ((20, 7, False, 2), (64, 16, False, 1), (20, 7, True, 3), (9, 12, False, 4)):
    values = table(rows, dim, dependent)
    earlier, later = values[: rows - offset], values[offset:]
    residual = numpy.abs(earlier @ numpy.linalg.lstsq(earlier, later, rcond=None)[0] - later)
    place = numpy.unravel_index(residual.argmax(), residual.shape)
    rms = numpy.sqrt((residual**2).mean())
    print(rows, dim, dependent, offset, numpy.linalg.matrix_rank(earlier), residual.max(), rms, *place)
