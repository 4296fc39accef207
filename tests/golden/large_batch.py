#!/usr/bin/python3
"""Prints the SHA-256 of the (16, 300, 70) batch of tests/integration/embed_behaviour_test.cc in each output type.

Model: token table (1000, 70) and position table (600, 70), seed 7, std 1; ids[i] = (31 i^2 + 7 i) mod 1000. Everything is
recomputed here with Python and numpy alone.
"""

import hashlib

import numpy as np
import seeded

SEED, VOCAB, LENGTH, DIM, BATCH, TOKENS = 7, 1000, 600, 70, 16, 300


def table(stream, rows):
    values = [z for block in range(rows * DIM // 2) for z in seeded.normals(SEED, stream, block)]
    return np.array(values).astype("<f4").reshape(rows, DIM)


def to_bfloat16(values):
    bits = values.view("<u4")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def main():
    i = np.arange(BATCH * TOKENS)
    ids = (31 * i * i + 7 * i) % VOCAB
    composed = table(seeded.TOKEN, VOCAB)[ids] + table(seeded.POSITION, LENGTH)[i % TOKENS]
    assert composed.dtype == np.float32
    for name, values in ("float32", composed), ("float16", composed.astype("<f2")), ("bfloat16", to_bfloat16(composed)):
        print(name, hashlib.sha256(values.tobytes()).hexdigest())


if __name__ == "__main__":
    main()
